"""Invented developers' notes with a natural spread of words: a few in most notes, most in a few."""

from __future__ import annotations

import random

_WORDS = ["the", "to", "of", "and", "a", "in", "is", "for", "we", "it", "that", "on", "with", "as", "was", "be", "this", "by", "not", "are", "or", "from", "at", "but", "when", "if", "have", "use", "should", "test", "user", "error", "code", "build", "file", "data", "config", "server", "request", "branch", "cache", "query", "token", "retry", "api", "database", "index", "login", "deploy", "schema", "worker", "timeout", "release", "handler", "session", "queue", "migration", "endpoint", "review", "service", "parser", "pipeline", "fixture", "frontend", "latency", "rollback", "webhook", "payload", "thread", "mutex", "batch", "lint", "commit", "merge", "refactor", "dashboard", "invoice", "tenant", "shard", "replica", "backup", "cursor", "locale", "currency", "checkout", "coupon", "shipment", "inventory", "scheduler", "heartbeat", "throttle", "gateway", "certificate", "firewall", "proxy", "websocket", "protobuf", "avro", "kafka", "redis", "postgres", "mongodb", "graphql", "oauth", "kerberos", "terraform", "ansible", "kubernetes", "helm", "docker", "nginx", "grafana", "prometheus", "sentry", "datadog", "snowflake", "airflow", "spark", "hadoop", "parquet", "jupyter", "pandas", "tensor", "gradient", "embedding", "tokenizer", "vocabulary", "quaternion", "shader", "texture", "viewport", "raycast", "collision", "sprite", "physics", "particle", "renderer", "skeleton", "animation", "compiler", "linker", "bytecode", "allocator", "garbage", "coroutine", "closure", "iterator", "generator", "decorator", "metaclass", "monad", "checksum", "entropy", "cipher", "nonce", "signature", "keystore", "vault", "audit", "compliance", "consent", "retention", "anonymize", "export", "accordion", "tooltip", "carousel", "breadcrumb", "pagination", "modal", "dropdown", "typography", "palette", "contrast", "accessibility"]
_WEIGHTS = [1 / (rank + 3) for rank in range(len(_WORDS))]


def note(random_: random.Random, words: int = 45) -> str:
    chosen = random_.choices(_WORDS, _WEIGHTS, k=words)
    name = f"{random_.choice(_WORDS)}_{random_.choice(_WORDS)}"
    chosen.insert(
        random_.randrange(words),
        f"{name}() in src/{random_.choice(_WORDS)}/{name}.py, T-{random_.randrange(10**5)}",
    )
    return " ".join(chosen).capitalize() + "."


def question(random_: random.Random) -> str:
    return " ".join(["how", "did", "we", *random_.choices(_WORDS, _WEIGHTS, k=5)])
