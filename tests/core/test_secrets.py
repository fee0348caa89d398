"""Redaction: what is a secret and what only looks like one."""

from __future__ import annotations

import sysconfig
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backstory.core import secrets
from backstory.core.secrets import Redactor, read_rules, redactor

from ..planted import PLANTED, plant
from ..planted_contexts import CONTEXTS, SERVICES, samples

# Written in parts: none of these is a real secret, and none shall look like one to whoever scans this file.
LETTERS = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0hL"
HEX = "0123456789abcdef" * 4
PEM = f"-----BEGIN RSA {'PRIVATE'} KEY-----\nProc-Type: 4,ENCRYPTED\n\n{LETTERS * 2}\n{LETTERS}==\n-----END RSA {'PRIVATE'} KEY-----"

SECRETS = {
    "aws key": ["AKIA" + "IOSFODNN7EXAMPXE", "ASIA" + "Y34FZKBOKMUTVV7A"],
    "google key": ["AIza" + "SyA-" + LETTERS[:31], "GOCSPX-" + LETTERS[:28], "ya29." + LETTERS + LETTERS],
    "azure key": [f"AccountKey={LETTERS * 2 + LETTERS[:22]}==", f"https://x.net/b?sv=1&sig={LETTERS}{LETTERS[:11]}%3D"],
    "github token": ["ghp_" + LETTERS + "abcd", "gho_" + LETTERS + "abcd", "github_pat_" + LETTERS[:22] + "_" + LETTERS],
    "gitlab token": ["glpat-" + LETTERS[:20]],
    "slack token": ["xoxb-" + "123456789012-" + LETTERS, "https://hooks.slack.com/services/T0AAAAAAA/B0BBBBBBB/" + LETTERS[:24]],
    "stripe key": ["sk_" + "live_" + LETTERS[:24], "rk_" + "test_" + LETTERS[:24], "whsec_" + LETTERS],
    "npm token": ["npm_" + LETTERS + "abcd"],
    "pypi token": ["pypi-AgE" + LETTERS * 2],
    "anthropic key": ["sk-ant-" + "api03-" + LETTERS],
    "openai key": ["sk-" + "proj-" + LETTERS, "sk-" + LETTERS + LETTERS[:16]],
    "hugging face token": ["hf_" + LETTERS + "ab"],
    "sendgrid key": ["SG." + LETTERS[:22] + "." + LETTERS + LETTERS[:11]],
    "digitalocean token": ["dop_v1_" + HEX],
    "jwt": ["eyJ" + "hbGciOiJIUzI1NiJ9.eyJ" + "zdWIiOiIxMjM0NTY3ODkwIn0." + LETTERS],
    "private key": [PEM, PEM.replace("\n", "\\n"), PEM.partition("\n-----END")[0].replace("Proc-Type: 4,ENCRYPTED\n\n", "")],
    "bearer token": [f"Authorization: Bearer {LETTERS}", f'curl -H "authorization: basic {LETTERS}=="'],
    "password in a url": ["postgres://app:s3cr3t-Pa55@db.internal:5432/app", "https://bob:hunter2@example.org/x"],
    "secret": [
        'password = "hunter2!"',
        "password=Tr0ub4dor&3",
        "PGPASSWORD=Zx81spectrum psql",
        '"password": "correct horse"'.replace(" h", "H"),
        "DB_PASSWORD: 'p@ss,w;rd1'",
        "pwd: 48151623",
        f"api_key: {LETTERS[:20]}",
        f'{{"apiKey": "{LETTERS[:24]}"}}',
        f'{{\\"client_secret\\": \\"{LETTERS[:24]}\\"}}',
        f"export SLACK_TOKEN={LETTERS[:24]}",
        f"aws_secret_access_key = {LETTERS}+/{LETTERS[:6]}",
        f"token => '{LETTERS[:16]}'",
        "token: schlüssel-für-2-häuser",
        f"  secret := `{LETTERS[:16]}`".replace("`", '"'),
    ],
}  # fmt: skip

HARMLESS = [
    "password:\n  valueFrom:\n    secretKeyRef:\n      name: db",
    "- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef:",
    "sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    '"integrity": "sha512-9fceb02d0ae598e95dc970b74767f19372d61af89fceb02d0ae598e95dc970b74767f19372d61af8AA=="',
    "background: url(data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk)",
    '"resolved": "https://registry.npmjs.org/jose/-/jose-6.0.1.tgz"',
    "next_page_token = 'Cg9zb21lLXBhZ2UtMTIzNDU2'",
    '"ARN": "arn:aws:secretsmanager:us-west-2:123456789012:secret:MyTestSecret-1a2b3c"',
    '"AWS::IAM::AccessKey": "72c2d9dd90025459"',
    "docker run -u 1000:1000 image",
    "curl -u $USER:$PASS https://x.org",
    "AKIAIOSFODNN7EXAMPLE",
    "password = get_password()",
    "token: str",
    "token: Optional[str] = None",
    "def login(user: str, password: str) -> Session:",
    "password = os.environ['DB_PASSWORD']",
    "api_key = settings.openai_api_key",
    "const token = await fetchToken(user.id)",
    "const apiKey = process.env.OPENAI_API_KEY",
    'api_key = os.getenv("API_KEY")',
    'password: "<your password>"',
    "api_key: YOUR_API_KEY",
    'token = "your-token-here"',
    "password=$DB_PASSWORD",
    "password: ${{ secrets.DB_PASSWORD }}",
    "PASSWORD=********",
    "secret: xxxxxxxxxxxxxxxx",
    'name="password" type="password"',
    '"password": "string"',
    'label: "Password", placeholder: "Password"',
    "Password: required, at least 12 characters",
    "The token: it expires after 24 hours.",
    "max_tokens: 4096000",
    "total_tokens=1234567",
    "token_type: sha256",
    "secret = self._secrets.load(name)",
    "private_key = /etc/ssl/private/server.key",
    "postgres://user:password@localhost/db",
    "postgres://app:${DB_PASSWORD}@db/app",
    "http://localhost:8080/@scope/package",
    "ssh://git@github.com:22/me/repo",
    "https://example.org/a:b@c",
    "import { token } from './token'",
    "sk-learn and sk-toolbelt are packages",
    "the basic authentication mechanism",
    "a basic understanding of cryptography",
    "Bearer token authentication",
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
    "550e8400-e29b-41d4-a716-446655440000",
    "-----BEGIN PRIVATE KEY----- is the first line of such a file",
    "eyJ is how a JWT begins",
    "npm_config_registry and npm_package_version",
    "ghp_ is the prefix of a personal token",
    "mail me at ann@example.org",
    'const STORAGE_KEY = "authToken"',
    'localStorage.setItem("refreshTokenExpiresAt", "accessTokenExpiresAt")',
    'key: "primaryBackgroundColor"',
    'cacheKey: "9fceb02d0ae598e95dc970b74767f19372d61af8"',
    'queryKey: "organization-members-with-invitations"',
    'publicKey: "MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE="',
    "token = tokens[index_of_the_current_token]",
    "the token is validated by AuthenticationMiddleware",
    "the api key is stored in organization_settings_table",
    "password reset for user 550e8400-e29b-41d4-a716-446655440000",
    "rotate the secret after commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
    "the password is at least twelve characters",
    'define("API_KEY", getenv("PRODUCTION_API_KEY_VARIABLE"))',
    "set -gx ACME_TOKEN (pass show acme/production-access-token)",
    "ENV ACME_TOKEN $BUILD_ARGUMENT_FOR_TOKEN",
    "gh secret set ACME_TOKEN --body $ACME_PRODUCTION_TOKEN",
    "kubectl get secret my-application-database-credentials",
    "AstPass::StandardLibraryImports",
    "git checkout -b fix/refresh-token-rotation-in-background",
    "git checkout -b feature/api-key-management-for-organizations",
    'i18n: {tokenLabel: "settings.integrations.token.label"}',
    "secret abcdefghijklmnopqrstuvwxyz",
    "token 12345678901234567890",
    "echo production-configuration-name | gh secret set ENVIRONMENT",
]


@pytest.fixture(scope="module")
def standard() -> Redactor:
    return Redactor("standard")


@pytest.mark.parametrize(("kind", "secret"), [(kind, each) for kind, all in SECRETS.items() for each in all])
def test_a_secret_is_replaced_by_its_kind(standard: Redactor, kind: str, secret: str) -> None:
    text, count = standard.redact(f"Before, ünd:\n{secret}\nafter.")
    assert f"[redacted: {kind}]" in text
    assert count == 1
    assert text.startswith("Before, ünd:\n")
    assert text.endswith("\nafter.")
    assert LETTERS[:12] not in text


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_like_a_secret_stays(standard: Redactor, text: str) -> None:
    assert standard.redact(f"Say:\n{text}\nand go on.") == (f"Say:\n{text}\nand go on.", 0)


def test_every_secret_of_a_text_goes(standard: Redactor) -> None:
    text, count = standard.redact("\n".join(each for all in SECRETS.values() for each in all))
    assert count == sum(map(len, SECRETS.values()))
    assert LETTERS[:12] not in text


def test_redacting_again_changes_nothing(standard: Redactor) -> None:
    once = standard.redact("\n".join(each for all in SECRETS.values() for each in all)).text
    assert standard.redact(once) == (once, 0)


def test_wide_takes_addresses_and_dense_strings_too() -> None:
    text, count = Redactor("wide").redact(f"ann@example.org wrote {LETTERS} in src/backstory/core/secrets.py")
    assert (
        text
        == "[redacted: e-mail address] wrote [redacted: high-entropy string] in src/backstory/core/secrets.py"
    )
    assert count == 2


def test_off_leaves_everything() -> None:
    text = SECRETS["aws key"][0]
    assert Redactor("off").redact(text) == (text, 0)


@given(st.text())
def test_any_text_without_a_secret_comes_back_as_it_was(text: str) -> None:
    redacted, count = REDACTOR.redact(text)
    assert count or redacted == text


REDACTOR = Redactor("wide")
RULES = read_rules("standard") + [rule for rule in read_rules("wide") if "mode" in rule]


def of(rule: Any) -> Redactor:
    return redactor(rule.get("mode", "standard"))


@pytest.mark.parametrize("rule", RULES, ids=[f"{n}-{rule['name']}" for n, rule in enumerate(RULES)])
def test_a_rule_finds_its_examples_and_not_its_counterexamples(rule: Any) -> None:
    redactor = of(rule)
    assert rule["examples"]
    assert rule["counterexamples"]
    for example in rule["examples"]:
        text, secrets = plant(example, 1)
        redacted = redactor.redact(f"Before:\n{text}\nafter.").text
        assert f"[redacted: {rule['name']}]" in redacted, example
        assert not [secret for secret in secrets if secret in redacted], example
    for counterexample in rule["counterexamples"]:
        assert redactor.redact(plant(counterexample, 1).text).found == 0, counterexample


def test_planted_secrets_of_two_hundred_kinds_are_found(standard: Redactor) -> None:
    missed = []
    for kind, template in PLANTED.items():
        text, secrets = plant(template, 7)
        redacted = standard.redact(f"I ran this:\n{text}\nand it worked.").text
        if "[redacted: " not in redacted or any(secret in redacted for secret in secrets):
            missed.append(kind)
    assert len(PLANTED) >= 200
    assert missed == []


def test_secrets_of_every_shape_are_found_in_almost_every_context(standard: Redactor) -> None:
    planted = list(samples(1))
    texts = [f"I ran this:\n{sample.text}\nand it worked." for sample in planted]
    redacted, _ = standard.redact_all(texts)
    missed = [
        sample
        for sample, text in zip(planted, redacted, strict=True)
        if "[redacted: " not in text or sample.secret in text
    ]
    assert len(CONTEXTS) >= 150
    assert len(SERVICES) >= 150
    assert len(missed) <= 0.03 * len(planted), missed


def test_texts_together_are_redacted_as_each_alone(standard: Redactor) -> None:
    """Whatever stands at the end of one and at the beginning of the next."""
    texts = [sample.text for sample in samples(1)]
    assert standard.redact_all(texts)[0] == [standard.redact(text).text for text in texts]


@pytest.mark.parametrize("seed", range(5))
def test_redacting_planted_contexts_again_changes_nothing(standard: Redactor, seed: int) -> None:
    once, _ = standard.redact_all([sample.text for sample in samples(1, seed)])
    assert standard.redact_all(once) == (once, 0)


def test_in_ten_thousand_lines_of_ordinary_code_there_is_at_most_one_false_alarm(standard: Redactor) -> None:
    """Of the standard library, without its tests, which hold test vectors on purpose."""
    library = Path(sysconfig.get_path("stdlib"))
    files = (
        path
        for path in sorted(library.rglob("*.py"))
        if not {"test", "tests", "site-packages"} & set(path.parts)
    )
    texts = [path.read_text("utf-8", "replace") for path in islice(files, 0, None, 4)]
    lines = sum(text.count("\n") for text in texts)
    assert lines > 10_000
    _, found = standard.redact_all(texts)
    assert found <= lines / 10_000


def test_marks_that_overlap_do_not_hide_each_other(standard: Redactor) -> None:
    """Of every two marks of which one begins within the other, both rules are tried."""
    for mark, others in standard._hidden.items():
        for at, other in others:
            text = mark[:at] + (mark[at:] if len(mark) - at > len(other) else other)
            (tried,) = standard._suspects([b"-" + text]).values()
            assert standard._marks[mark] <= tried or not text.startswith(mark)
            assert standard._marks[other] <= tried, (mark, other)


def test_rules_are_compiled_for_the_first_text_and_not_before(monkeypatch: pytest.MonkeyPatch) -> None:
    def load_rules(mode: str) -> list[secrets.Rule]:
        raise AssertionError("compiled")

    monkeypatch.setattr(secrets, "load_rules", load_rules)
    rules = Redactor("standard")
    assert rules.redact_all([]) == ([], 0)
    assert rules.redact_all(["", ""]) == (["", ""], 0)
    with pytest.raises(AssertionError, match="compiled"):
        rules.redact("a text")
