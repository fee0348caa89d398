"""Secrets of any shape in the places where people write them: every shape in every context, under the names of many services.

`tests/planted.py` has one form for each service. Here shape, name and context vary independently, so that rules are measured by
classes. Half of the contexts are held out: rules are written with the misses of the other half in view."""

from __future__ import annotations

import random
import re
import string
from collections.abc import Callable, Iterator
from typing import NamedTuple

_SERVICE_NAMES = """
acme adafruit adyen airtable algolia amplitude anthropic apify apollo appcenter asana assemblyai atlas auth0 axiom azure backblaze
bamboo basecamp bitly box braintree branch brex bugsnag buildkite bunny calendly canva chargebee circle clearbit clerk cloudinary
coinbase confluent contentful convex courier crowdin customerio datadog deepgram deepl dhl discord docusign doppler drip dropbox
easypost elastic elevenlabs etsy eventbrite expo fastly fauna figma finnhub fireworks fivetran flickr foursquare freshdesk front
fullstory geocodio ghost giphy gocardless grafana greenhouse groq gumroad hasura hcaptcha helpscout heroku honeybadger hotjar
hubspot hunter imgur influx infura intercom ipinfo iterable jira jotform kagi keycloak kinde klarna klaviyo knock kraken lago launchdarkly
lemonsqueezy lever linear linode liveblocks livekit lob logtail loops magic mailchimp mailgun mailjet mandrill mapbox maxmind
medium meilisearch mercury messagebird mixpanel mollie monday mux neon netlify newrelic ngrok nylas okta omise oneloop onesignal opsgenie
optimizely paddle pagerduty papertrail paypal pendo pinata pinecone pipedrive plaid planetscale plivo polygon postmark pusher qdrant quay
quickbooks rapidapi razorpay readme recurly redis replicate resend ringcentral rollbar salesforce sanity scaleway segment sentry
shippo shodan shopify shortcut signalwire slack smartsheet snyk sonar spotify square stability statuspage strava stripe stytch
sumologic supabase surge svix tavily telegram tenderly terraform todoist together travis trello turso twilio typesense uploadcare
upstash vercel vonage weatherstack webflow workos xero yelp zendesk zoom zuora
"""
SERVICES = _SERVICE_NAMES.split()

_HEX = "0123456789abcdef"
_ALNUM = string.ascii_letters + string.digits


def _any_of(alphabet: str, *lengths: int) -> Callable[[random.Random], str]:
    return lambda chance: "".join(chance.choices(alphabet, k=chance.choice(lengths)))


def _between(first: str, alphabet: str, *lengths: int) -> Callable[[random.Random], str]:
    """Letters or digits at both ends, where a sign would be punctuation of the sentence."""
    return lambda chance: (
        chance.choice(first)
        + "".join(chance.choices(alphabet, k=chance.choice(lengths) - 2))
        + chance.choice(first)
    )


def _uuid(chance: random.Random) -> str:
    text = "".join(chance.choices(_HEX, k=32))
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-a{text[17:20]}-{text[20:]}"


def _groups(chance: random.Random) -> str:
    return chance.choice("-_").join(
        "".join(chance.choices(string.ascii_lowercase + string.digits, k=6)) for _ in range(4)
    )


def _base64(chance: random.Random) -> str:
    length, padding = chance.choice(((43, "="), (86, "=="), (32, ""), (64, "")))
    return "".join(chance.choices(_ALNUM + "+/", k=length)) + padding


def _prefixed(chance: random.Random) -> str:
    """The prefix of a service that no rule knows by name."""
    letters = "".join(chance.choices(string.ascii_lowercase, k=chance.choice((2, 3, 4))))
    return letters + chance.choice(("_", "-", "_live_", "_test_")) + "".join(chance.choices(_ALNUM, k=28))


def _password(chance: random.Random) -> str:
    """Letters of both cases, a digit and a sign, as a rule for passwords wants them."""
    signs = chance.choices("!@%^*?~", k=2)
    rest = chance.choices(_ALNUM, k=chance.choice((6, 9, 12)))
    middle = [*signs, chance.choice(string.digits), *rest]
    chance.shuffle(middle)
    return chance.choice(string.ascii_letters) + "".join(middle) + chance.choice(_ALNUM)


SHAPES: dict[str, Callable[[random.Random], str]] = {
    "letters": _any_of(string.ascii_letters, 24, 32, 34, 40),
    "small letters": _any_of(string.ascii_lowercase, 24, 32, 40),
    "capitals and digits": _any_of(string.ascii_uppercase + string.digits, 20, 26, 32),
    "base32": _any_of(string.ascii_uppercase + "234567", 26, 32, 52),
    "letters and digits": _any_of(_ALNUM, 16, 20, 24, 32, 40, 64),
    "small letters and digits": _any_of(string.ascii_lowercase + string.digits, 20, 25, 32, 40),
    "digits": _any_of(string.digits, 18, 20, 24),
    "hex": _any_of(_HEX, 24, 32, 40, 64),
    "base64": _base64,
    "base64url": _between(_ALNUM, _ALNUM + "-_", 22, 32, 43, 64),
    "groups": _groups,
    "uuid": _uuid,
    "prefixed": _prefixed,
    "password": _password,
}

_ENDING_WORDS = """
api_key api_key api_key access_token auth_token api_token token secret client_secret api_secret secret_key access_key private_key
password pass webhook_secret signing_secret license_key refresh_token key app_secret service_key deploy_token bot_token passphrase
"""
_ENDINGS = _ENDING_WORDS.split()


class SecretName(NamedTuple):
    """One name in the spellings of its contexts."""

    service: str
    ending: str

    @property
    def snake(self) -> str:
        return f"{self.service}_{self.ending}"

    @property
    def constant(self) -> str:
        return self.snake.upper()

    @property
    def kebab(self) -> str:
        return self.snake.replace("_", "-")

    @property
    def pascal(self) -> str:
        return "".join(part.capitalize() for part in self.snake.split("_"))

    @property
    def camel(self) -> str:
        return self.service + self.pascal[len(self.service) :]

    @property
    def dotted(self) -> str:
        return f"{self.service}.{self.ending.replace('_', '-')}"

    @property
    def words(self) -> str:
        return self.ending.replace("_", " ").replace("pass", "password", self.ending == "pass")


CONTEXTS = {
    # files
    "env file": "PORT=8080\n{constant}={value}\nDEBUG=0",
    "env file, quoted": '{constant}="{value}"',
    "env file, spaces": "{constant} = {value}",
    "ini": "[{service}]\n{snake} = {value}",
    "properties": "{dotted}={value}",
    "properties, colon": "{dotted}: {value}",
    "toml": '[{service}]\n{snake} = "{value}"',
    "yaml": "{service}:\n  {snake}: {value}",
    "yaml, quoted": '  {kebab}: "{value}"',
    "yaml, camel": "  {camel}: '{value}'",
    "json": '{{"{camel}": "{value}"}}',
    "json, snake": '{{\n  "{snake}": "{value}",\n  "region": "eu"\n}}',
    "json in a string": '{{\\"{camel}\\": \\"{value}\\"}}',
    "json, constant": '"env": {{"{constant}": "{value}"}}',
    "xml element": "<{camel}>{value}</{camel}>",
    "xml attribute": '<add key="{pascal}" value="{value}" />',
    "xml setting": '<entry name="{snake}">{value}</entry>',
    "android strings": '<string name="{snake}">{value}</string>',
    "plist": "<key>{pascal}</key>\n<string>{value}</string>",
    "appsettings": '"{pascal}": "{value}"',
    "csv of names": "{constant},{value}",
    "markdown table": "| {constant} | `{value}` |",
    "rst": ":{kebab}: {value}",
    # shells
    "export": "export {constant}={value}",
    "export, quoted": "export {constant}='{value}'",
    "export -x": "declare -x {constant}=\"{value}\"",
    "fish": "set -gx {constant} {value}",
    "fish, universal": 'set -Ux {constant} "{value}"',
    "csh": "setenv {constant} {value}",
    "powershell": '$env:{constant} = "{value}"',
    "powershell, set": "[Environment]::SetEnvironmentVariable('{constant}', '{value}', 'User')",
    "cmd": "set {constant}={value}",
    "setx": "setx {constant} {value}",
    "setx, quoted": 'setx {constant} "{value}" /M',
    "one command": "{constant}={value} npm start",
    "env command": "env {constant}={value} ./run.sh",
    "read into": "read -r {constant} <<< '{value}'",
    "echo into": 'echo "{constant}={value}" >> .env',
    "tmux": "tmux setenv {constant} {value}",
    # containers and clusters
    "dockerfile env": "FROM node\nENV {constant} {value}\nRUN npm ci",
    "dockerfile env, equals": "ENV {constant}={value}",
    "dockerfile arg": "ARG {constant}={value}",
    "docker run": "docker run -d -e {constant}={value} acme/app",
    "docker build": "docker build --build-arg {constant}={value} .",
    "compose list": "    environment:\n      - {constant}={value}",
    "compose map": "    environment:\n      {constant}: {value}",
    "kubernetes env": "  - name: {constant}\n    value: \"{value}\"",
    "kubernetes stringData": "kind: Secret\nstringData:\n  {snake}: {value}",
    "kubectl literal": "kubectl create secret generic app --from-literal={kebab}={value}",
    "kubectl set env": "kubectl set env deploy/app {constant}={value}",
    "helm set": "helm upgrade app ./chart --set {service}.{ending}={value}",
    "helm set camel": "helm install app ./chart --set-string config.{camel}={value}",
    "terraform": 'variable "{snake}" {{\n  default = "{value}"\n}}',
    "terraform argument": '  {snake} = "{value}"',
    "tf var": "terraform apply -var='{snake}={value}'",
    "tf env": "export TF_VAR_{snake}={value}",
    "ansible extra": "ansible-playbook site.yml -e {snake}={value}",
    "nomad": '{constant} = "{value}"',
    "systemd": 'Environment="{constant}={value}"',
    "github workflow": "        env:\n          {constant}: {value}",
    # code
    "python": '{snake} = "{value}"',
    "python constant": "{constant} = '{value}'",
    "python environ": 'os.environ["{constant}"] = "{value}"',
    "python default": 'os.environ.get("{constant}", "{value}")',
    "python setdefault": "os.environ.setdefault('{constant}', '{value}')",
    "python keyword": 'client = Client({ending}="{value}")',
    "python dict": 'headers = {{"{kebab}": "{value}"}}',
    "python annotated": '{snake}: str = "{value}"',
    "python tuple": '("{constant}", "{value}")',
    "javascript": 'const {camel} = "{value}";',
    "javascript property": "  {camel}: '{value}',",
    "javascript template": "const {constant} = `{value}`",
    "javascript fallback": 'process.env.{constant} || "{value}"',
    "javascript nullish": "process.env.{constant} ?? '{value}'",
    "javascript set": 'config.set("{camel}", "{value}")',
    "javascript local": 'localStorage.setItem("{camel}", "{value}")',
    "typescript": 'private readonly {camel}: string = "{value}";',
    "typescript define": '"process.env.{constant}": JSON.stringify("{value}")',
    "go": '{camel} := "{value}"',
    "go const": 'const {camel} = "{value}"',
    "go setenv": 'os.Setenv("{constant}", "{value}")',
    "java": 'private static final String {constant} = "{value}";',
    "java setter": 'client.set{pascal}("{value}");',
    "csharp": 'var {camel} = "{value}";',
    "csharp index": 'Configuration["{service}:{pascal}"] = "{value}";',
    "php variable": "${snake} = '{value}';",
    "php define": "define('{constant}', '{value}');",
    "php define, quoted": 'define( "{constant}", "{value}" );',
    "php putenv": 'putenv("{constant}={value}");',
    "php array": "'{snake}' => '{value}',",
    "php env": "'{snake}' => env('{constant}', '{value}'),",
    "ruby": "{snake} = '{value}'",
    "ruby env": "ENV['{constant}'] = '{value}'",
    "ruby fetch": "ENV.fetch('{constant}', '{value}')",
    "ruby config": "  config.{snake} = '{value}'",
    "rust": 'const {constant}: &str = "{value}";',
    "rust env": 'std::env::set_var("{constant}", "{value}");',
    "swift": 'let {camel}: String = "{value}"',
    "kotlin": 'val {camel} = "{value}"',
    "gradle": 'buildConfigField "String", "{constant}", "\\"{value}\\""',
    "c": '#define {constant} "{value}"',
    "sql": "INSERT INTO settings (name, value) VALUES ('{snake}', '{value}');",
    "lua": '{camel} = "{value}"',
    # commands
    "flag": "{service} deploy --{flag} {value} --prod",
    "flag, equals": "{service} login --{flag}={value}",
    "flag, quoted": "{service} login --{flag} '{value}'",
    "single dash": "{service} -{flag} {value} run",
    "aws configure": "aws configure set {snake} {value} --profile work",
    "gh secret": "gh secret set {constant} --body {value}",
    "gh secret, short": 'gh secret set {constant} -b"{value}" --repo acme/app',
    "gh secret, equals": "gh secret set {constant} --body='{value}'",
    "gh secret, pipe": "echo {value} | gh secret set {constant}",
    "vault": "vault kv put secret/{service} {ending}={value}",
    "heroku config": "heroku config:set {constant}={value} -a app",
    "fly secrets": "fly secrets set {constant}={value}",
    "wrangler": "echo '{value}' | wrangler secret put {constant}",
    "vercel env": "echo -n {value} | vercel env add {constant} production",
    "npm config": "npm config set //npm.acme.dev/:_authToken {value}",
    "npm config, equals": "npm config set //npm.acme.dev/:_authToken={value}",
    "git config": "git config --global {service}.{camelending} {value}",
    "gcloud secret": "printf '{value}' | gcloud secrets create {kebab} --data-file=-",
    "ssm": "aws ssm put-parameter --name /app/{kebab} --type SecureString --value {value}",
    "secretsmanager": "aws secretsmanager create-secret --name {kebab} --secret-string '{value}'",
    "az keyvault": "az keyvault secret set --vault-name kv --name {kebab} --value {value}",
    "pulumi": "pulumi config set --secret {camel} {value}",
    "doppler": "doppler secrets set {constant} {value}",
    "netlify env": "netlify env:set {constant} {value}",
    "firebase": 'firebase functions:config:set {service}.key="{value}"',
    "poetry": "poetry config pypi-token.{service} {value}",
    "composer": "composer config http-basic.repo.acme.dev token {value}",
    "header": "curl -H 'Authorization: Bearer {value}' https://api.{service}.com",
    "header, own": 'curl -H "X-{pascal}: {value}" https://api.{service}.com',
    "header, api key": "curl -H 'x-api-key: {value}' https://api.{service}.com",
    "header in code": 'headers: {{ Authorization: "Bearer {value}" }}',
    "header, token": "Authorization: Token {value}",
    "query": "https://api.{service}.com/v1/items?{ending}={value}&page=2",
    "query, middle": "GET /v1/items?page=2&{snake}={value} HTTP/1.1",
    "form data": "curl -d '{ending}={value}&grant_type=client_credentials' https://{service}.com/oauth",
    "url login": "https://ann:{value}@{service}.acme.dev/x.git",
    "url token": "git clone https://{value}@git.{service}.dev/o/r.git",
    "url oauth": "git remote add o https://oauth2:{value}@git.{service}.dev/o/r",
    "curl user": "curl -u ann:{value} https://{service}.dev",
    "curl key as user": "curl https://api.{service}.com/v1/charges -u {value}:",
    # prose
    "prose is": "the {service} {words} is {value}",
    "prose is, quoted": "Our {service} {words} is `{value}`, keep it safe.",
    "prose my": "my {words} for {service} is {value} and it expires soon",
    "prose colon": "{service} {words}: {value}",
    "prose here": "here's the {words}: {value}",
    "prose here is": "Here is the new {words} for staging: {value}.",
    "prose use": "use {words} {value} for {service}",
    "prose with": "log in with {words} {value} please",
    "prose please": "Please use this {service} {words} instead: \"{value}\"",
    "prose value first": "{value} is the {words} of our {service} account",
    "prose set to": "I set the {words} to {value} yesterday",
    "prose changed": "The {words} was changed to '{value}'.",
    "prose brackets": "the {service} {words} ({value}) no longer works",
    "prose dash": "{service} {words} - {value}",
    "prose equals": "{words} = {value}",
    "prose arrow": "{words} -> {value}",
    "prose new line": "The {service} {words}:\n{value}\n",
    "prose code line": "My {service} {words} is:\n\n```\n{value}\n```",
    "prose should be": "the {words} should be {value} in production",
    "prose try": "try this {words}: {value}",
    "prose capital": "{service} {upper}: {value}",
    "log": "2024-05-01 12:00:03 INFO using {service} {words} {value}",
    "log, pair": 'level=info msg="auth" {ending}={value}',
    "diff": "-{constant}=old\n+{constant}={value}",
    # names that only end in a key
    "own key": '{service}Key: "{value}"',
    "own key, json": '"{service}Key": "{value}"',
    "own key, constant": "{upperservice}_KEY={value}",
    "own key, assigned": "const {service}Key = '{value}'",
    "own key, kebab": "{service}-key: {value}",
    # git
    "branch": "git checkout -b fix/{kebab}-{value}",
}  # fmt: skip
"""By name, a template: `{value}` is the secret, the rest are spellings of its name."""

_PASSWORDS_ONLY = ("password", "pass", "passphrase")
_NO_PASSWORDS = re.compile(r"url|query|form data|header|branch|value first|own key|csv|echo|env file, spaces")
"""Contexts where a password with signs would be written otherwise."""


class ContextSample(NamedTuple):
    context: str
    shape: str
    text: str
    secret: str


def is_held_out(context: str) -> bool:
    """Whether the misses of a context stay unread while rules are written: every second one of each group."""
    return list(CONTEXTS).index(context) % 2 == 1


def samples(each: int, seed: object = 0) -> Iterator[ContextSample]:
    """For every context and every shape that fits it, `each` samples under the names of random services."""
    for context, template in CONTEXTS.items():
        for shape, make in SHAPES.items():
            if shape == "password" and _NO_PASSWORDS.search(context):
                continue
            for number in range(each):
                chance = random.Random(f"{seed} {context} {shape} {number}")
                endings = _PASSWORDS_ONLY if shape == "password" else _ENDINGS
                name = SecretName(chance.choice(SERVICES), chance.choice(endings))
                value = make(chance)
                yield ContextSample(context, shape, _filled(template, name, value), value)


def _filled(template: str, name: SecretName, value: str) -> str:
    parts = name.ending.split("_")
    return template.format(
        value=value,
        service=name.service,
        ending=name.ending,
        flag=name.ending.replace("_", "-"),
        camelending=parts[0] + "".join(part.capitalize() for part in parts[1:]),
        upperservice=name.service.upper(),
        upper=name.words.upper(),
        **{each: getattr(name, each) for each in ("snake", "constant", "kebab", "pascal", "camel", "dotted", "words")},
    )  # fmt: skip
