"""Secrets are found by what announces them, and nothing else is. The values are made up; most are put together here, so
that no scanner of repositories takes them for real ones."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.domain.text.secrets import find_secrets, mask_secrets, mask_values

TAIL = "q7Rk2mXv9Ld4Tz8Wb3Ny6Hc1Pf5Gs0Ja"  # 32 characters
SHAPED = {
    "AWS": "AKIA" + "Q3EXAMPLE7KEYS9Z",
    "GitHub": "ghp_" + TAIL + "xyz",
    "GitHub, fine grained": "github_pat_" + TAIL,
    "GitLab": "glpat-" + TAIL[:20],
    "Slack": "xoxb-" + "2150483647-" + TAIL[:24],
    "OpenAI": "sk-proj-" + TAIL,
    "Anthropic": "sk-ant-api03-" + TAIL,
    "Stripe": "sk_live_" + TAIL[:24],
    "Google": "AIza" + TAIL + "u2z",
    "Hugging Face": "hf_" + "qRkmXvLdTzWbNyHcPfGsJaQrKmXvLdTz",
    "npm": "npm_" + TAIL + "wxyz",
    "SendGrid": "SG." + TAIL[:22] + "." + TAIL + "abcdefghij",
    "our own": "lt_" + TAIL,
    "web token": "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0In0." + TAIL,
    "Telegram": "123456789:" + "AA" + TAIL + "u",
}
# sentence with {} in the place of the secret, the secret
ANNOUNCED = [
    ("The staging database password is {}.", "hunter2-staging"),
    ("The staging database password is {}, ask Ann before you use it", "hunter2-staging"),
    ("the password for the guest wifi is {}", "Blue7Heron"),
    ('My password is "{}".', "swordfish"),
    ("my pin is {}", "4821"),
    ("The PIN code for the door is {}!", "90210"),
    ("log in as admin with password {} please", "Tr0ub4dor&3"),
    ("{} is the root password", "c0rrecthorse"),
    ("use {} as the password", "S3same-open"),
    ("The password was changed to {} yesterday", "winter!2026"),
    ("We set the passphrase to {}", "m0on-l4nding"),
    ("Passwort? The pwd is {}", "x9!kfc"),
    ("api key: {}", "9f8e7d6c5b4a39281706"),
    ("the api key is {}", "9f8e7d6c5b4a39281706"),
    ("export AWS_SECRET_ACCESS_KEY={}", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzz81"),
    ("DB_PASSWORD={}", "pg-7712-main"),
    ("DB_PASSWORD='{}'", "letmein"),
    ('{{"password": "{}", "user": "ann"}}', "opensesame"),
    ('{{"apiKey": "{}"}}', "a81f04c2d97b4e"),
    ("password: {}", "hunter22"),
    ("**Password:** {}", "hunter22"),
    ("spring.datasource.password={}", "pg7712main"),
    ("client_secret = '{}'", "8Q~7fpz2LmQx"),
    ("Server=db;User Id=sa;Password={};", "Str0ngPass"),
    ("SECRET_KEY_BASE={}", "4e1c9b7af02d5568"),
    ("longtail token create && longtail --token {}", "a1b2c3d4e5f6"),
    ("mysqldump --password {} app", "s3cr3tdump"),
    ("curl -u ann:{} https://example.org", "pa55phrase"),
    ("postgresql://app:{}@db.internal:5432/app", "n0tforyou"),
    ("redis://:{}@cache:6379/0", "r3d1s-pw"),
    ("Authorization: Bearer {}", "mF9.B5f-4.1JqM8"),
    ('-H "Authorization: Basic {}"', "YW5uOnN3b3JkZmlzaDE="),
    ("x-api-key: {}", "k-55d1b0a2e9f3"),
    ("the access token for the crawler is {}", "crwl8837abZ"),
    ("https://hooks.slack.com/services/{}", "T02AB34CD/B05EF67GH/" + TAIL[:24]),
]
ORDINARY = [
    "The password is wrong.",
    "The password is stored in the vault.",
    "Is the password case-sensitive? I think the password is required.",
    "password: required",
    "The token is expired, and the secret is out.",
    "max_tokens=4096, token_count: 12000, tokens: 4.000.000",
    "Use a password manager, and change your password every 90 days",
    "password = os.environ['DB_PASSWORD']",
    "password=settings.database_password",
    "DB_PASSWORD=${DB_PASSWORD}",
    "DB_PASSWORD=<your password>",
    "password: changeme, api_key: your-api-key-here, token: xxxxxxxx",
    "passwordField.value = form.password2",
    "password_file=/run/secrets/db2",
    "postgresql://app:${PASSWORD}@db/app",
    "see http://localhost:8080/a@b and ssh git@github.com:a/b.git",
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8 fixes it",
    "id 018f4d2e-7c1a-7b3e-9d55-2f1f0a6f4c11, sha256 " + "ab12" * 16,
    "The key is to start with 2 cups of flour; the secret is 3 eggs.",
    "I pinned version 4.2.1, and the spin is 1/2.",
    "docker run -u 1000:1000 image",
    "risk-free task-based desk-organizer-with-a-long-name",
    "The token bucket holds 100 tokens and the secret ingredient is nutmeg2go",
    "type: password",
    "const token: string = getToken()",
    "My PIN is too short.",
    "The passport number is A1234567",
]


@pytest.mark.parametrize("value", SHAPED.values(), ids=SHAPED.keys())
def test_a_token_of_a_known_shape_is_masked_wherever_it_stands(value: str) -> None:
    for sentence in ("{}", "Here: {}.", '("{}")', "I wrote {} on the board", "a={}&b=1"):
        screened = mask_secrets(sentence.format(value))
        assert screened.kinds == ("token",), sentence
        assert value not in screened.text


@pytest.mark.parametrize(("sentence", "value"), ANNOUNCED)
def test_what_a_name_announces_is_masked_and_the_sentence_stays(sentence: str, value: str) -> None:
    screened = mask_secrets(sentence.format(value))
    assert len(screened.kinds) == 1
    assert screened.text == sentence.format(f"[masked: {screened.kinds[0]}]")


@pytest.mark.parametrize("sentence", ORDINARY)
def test_talk_about_secrets_is_left_alone(sentence: str) -> None:
    assert mask_secrets(sentence).text == sentence


@pytest.mark.parametrize("kind", ["RSA ", "EC ", "OPENSSH ", ""])
def test_a_private_key_goes_as_a_whole_even_without_its_last_line(kind: str) -> None:
    body = "\n".join("MIIEpAIBAAKCAQEA7" + TAIL for _ in range(10))
    for end in (f"\n-----END {kind}PRIVATE KEY-----", ""):
        screened = mask_secrets(f"Here it is:\n-----BEGIN {kind}PRIVATE KEY-----\n{body}{end}")
        assert screened.text == "Here it is:\n[masked: private key]"


def test_several_secrets_are_each_named_in_order() -> None:
    screened = mask_secrets(f"password is hunter2-x and the key {SHAPED['OpenAI']}")
    assert screened.kinds == ("password", "token")


def test_values_under_a_telling_name_are_masked_however_deep() -> None:
    given = {
        "a": [{"db_password": "plainword", "port": 5432}],
        "note": "token: 81jd92kd01",
        "apiKey": "short",
        "x": None,
    }
    masked, kinds = mask_values(given)
    assert masked == {
        "a": [{"db_password": "[masked: password]", "port": 5432}],
        "note": "token: [masked: token]",
        "apiKey": "[masked: api key]",
        "x": None,
    }
    assert sorted(kinds) == ["api key", "password", "token"]


PIECES = [
    *SHAPED.values(),
    *(one.format(value) for one, value in ANNOUNCED),
    *ORDINARY,
    " ",
    "\n",
    "is",
    "=",
    "password",
    "İ",
    "'",
]


@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=12)), max_size=8))
def test_what_was_masked_is_not_found_again_and_the_rest_is_untouched(parts: list[str]) -> None:
    text = " ".join(parts)
    found = find_secrets(text)
    assert all(0 <= one.start < one.end <= len(text) for one in found)
    assert all(a.end <= b.start for a, b in itertools.pairwise(found))
    once = mask_secrets(text)
    assert mask_secrets(once.text).text == once.text
