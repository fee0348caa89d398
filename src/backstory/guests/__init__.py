"""Programs whose tools Backstory speaks, one package each: its words, and the behaviour that only it needs.

No other part of the product imports a guest. A guest's package is found by its name, and these modules of it by theirs:

- `tools` has `surface`, its tools;
- `importer`, if present, has `importer`, which brings over the stores of the original program;
- `derived`, if present, has `derivations`: what it stores that may quote memories, for `core/forgetting`.
"""
