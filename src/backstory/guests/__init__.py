"""Programs whose tools Backstory provides, one package each: its vocabulary, and the behaviour that only it needs.

No other part of the product imports a guest. A guest's package and these of its modules are found by name:

- `tools` contains `surface` with its tools;
- `importer`, if present, contains `importer`, which imports the stores of the original program;
- `derived`, if present, contains `derivations`: stored data that may quote memories, for `core/forgetting`."""
