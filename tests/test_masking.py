import string

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from app.masking import Masks, hidden

_LETTERS = string.ascii_letters + string.digits


def _drawn(least: int, most: int, alphabet: str = _LETTERS) -> st.SearchStrategy[str]:
    return st.text(alphabet, min_size=least - 2, max_size=most - 2).map("K7".__add__)


_SECRETS = st.one_of(
    _drawn(20, 48).map(lambda s: ("started with {} today", f"sk-{s}")),
    _drawn(20, 48).map(lambda s: ("started with {} today", f"sk-proj-{s}")),
    _drawn(30, 40).map(lambda s: ("login {}", f"hf_{s}")),
    _drawn(36, 36).map(lambda s: ("git clone with {}", f"ghp_{s}")),
    _drawn(16, 16, string.ascii_uppercase + string.digits).map(lambda s: ("id {} ok", f"AKIA{s}")),
    _drawn(35, 35).map(lambda s: ("GOOGLE {}", f"AIza{s}")),
    _drawn(24, 40).map(lambda s: ("slack {}", f"xoxb-{s}")),
    st.tuples(_drawn(12, 30), _drawn(12, 60), _drawn(20, 43)).map(
        lambda s: ("cookie {}", "eyJ" + ".".join(s))
    ),
    _drawn(16, 60).map(lambda s: ("authorization: Bearer {}", s)),
    _drawn(6, 40).map(lambda s: ("Authorization: Basic {}", s)),
    _drawn(6, 40, _LETTERS + "!#$%^*+-_.").map(lambda s: ("DB_PASSWORD={}", s)),
    _drawn(6, 40, _LETTERS + " !#$%^*+-_.@&").map(lambda s: ('{{"password": "{}"}}', s)),
    _drawn(6, 40).map(lambda s: ("postgresql://trainer:{}@db.example:5432/runs", s)),
    _drawn(20, 40).map(lambda s: ("https://{}@git.example/x.git", s)),
    st.text("0123456789abcdef", min_size=40, max_size=40).map(
        lambda s: ("export WANDB_API_KEY={}", s)
    ),
    _drawn(40, 40).map(lambda s: ("aws_secret_access_key = {}", s)),
    _drawn(24, 40).map(lambda s: ("python train.py --hub-token {} --lr 0.1", s)),
    _drawn(24, 40).map(lambda s: ("'accessToken': '{}'", s)),
    _drawn(4, 12).map(lambda s: ("wrote to {}@lab.example.org", s)),
)
_NOISE = st.text(max_size=60)
_LOGS = st.lists(
    st.one_of(
        _NOISE,
        _SECRETS.map(lambda planted: planted[0].format(planted[1])),
        st.sampled_from(["<KEY_1>", "<USER_2> <TEXT_1>", "/home/ines/run", "USER=bo", "10.0.0.7"]),
    ),
    max_size=8,
)


@given(planted=_SECRETS, before=_NOISE, after=_NOISE)
def test_no_planted_secret_survives(planted: tuple[str, str], before: str, after: str) -> None:
    place, secret = planted
    assume(secret not in before + after + place)
    assert secret not in hidden(f"{before}\n{place.format(secret)}\n{after}").text


@given(parts=_LOGS, addresses=st.booleans())
def test_restoring_gives_back_every_text_of_the_log(parts: list[str], addresses: bool) -> None:
    masks = Masks(addresses=addresses)
    told = [masks.hide(part) for part in parts]
    assert [masks.restore(masked.text) for masked in told] == parts


@given(st.text(st.characters(codec=None), max_size=80))
def test_any_text_at_all_can_be_masked(text: str) -> None:
    assert hidden(text).restore(hidden(text).text) == text


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("WANDB_API_KEY=0a1b2c3d4e5f60718293", "WANDB_API_KEY=<KEY_1>"),
        ('{"password": "hunter2 hunter2"}', '{"password": "<KEY_1>"}'),
        (r'"env": "{\"hf_token\": \"abcdefgh1234\"}"', r'"env": "{\"hf_token\": \"<KEY_1>\"}"'),
        ("Authorization: Bearer abcdefgh12345", "Authorization: Bearer <KEY_1>"),
        ("Set-Cookie: session=3f9a; Path=/", "Set-Cookie: <KEY_1>"),
        ("login with hf_abcdefghijklmnopqrst ok", "login with <KEY_1> ok"),
        ("https://ines:hunter2@mirror.example/x", "https://<LOGIN_1>@mirror.example/x"),
        ("mail ines.k@lab.example.org now", "mail <EMAIL_1> now"),
        ("/home/ines/ /home/bo/ /Users/ines", "/home/<USER_1>/ /home/<USER_2>/ /Users/<USER_1>"),
        (r"C:\Users\jörg\run", r"C:\Users\<USER_1>\run"),
        ("USER=ines", "USER=<USER_1>"),
        ("UserId=ines(1000) uid=1000(ines)", "UserId=<USER_1>(1000) uid=1000(<USER_1>)"),
        ("SLURM_JOB_USER=ines", "SLURM_JOB_USER=<USER_1>"),
        ("Authorization: token 0a1b2c3d", "Authorization: token <KEY_1>"),
        (r'"password": "a\"b \\ c", "x": 1', '"password": "<KEY_1>", "x": 1'),
        (r"{'password': 'a\'b', 'x': 1}", "{'password': '<KEY_1>', 'x': 1}"),
        (r"\'password\': \'hunter2\', \'x\'", r"\'password\': \'<KEY_1>\', \'x\'"),
        ("postgresql://ines:hun@ter@db.example/x", "postgresql://<LOGIN_1>@db.example/x"),
        ("postgresql://ines:hun/ter2@db.example/x", "postgresql://<LOGIN_1>@db.example/x"),
        ("DB_PASS=hunter2 MYSQL_PWD=hunter2", "DB_PASS=<KEY_1> MYSQL_PWD=<KEY_1>"),
        ("+ docker login -u ines -p hunter2 hub", "+ docker login -u ines -p <KEY_1> hub"),
        ("+ curl -sf -u ines:hunter2 https://x", "+ curl -sf -u <KEY_1> https://x"),
        (f"+ wandb login --relogin {'0a1b2' * 8}", "+ wandb login --relogin <KEY_1>"),
        ("/c/f?sv=2021&sig=aB3%2Fd4f5g6&se=1", "/c/f?sv=2021&sig=<KEY_1>&se=1"),
        ("X-Goog-Signature=0a1b2c&x=1", "X-Goog-Signature=<KEY_1>&x=1"),
        (
            "https://chat.example/api/webhooks/1234/aB3dE5fG7hJ9kLmN",
            "https://chat.example/api/webhooks/<KEY_1>",
        ),
        ("printed by the job itself: <KEY_1>", "printed by the job itself: <TEXT_1>"),
    ],
)
def test_secrets_addresses_and_names_are_masked(text: str, left: str) -> None:
    assert hidden(text).text == left


@pytest.mark.parametrize(
    "text",
    [
        "tokens per second: 123456.789",
        "num_tokens: 8192000000 consumed_tokens=12345678 tokens_per_second: 123456.789",
        "padding token: <pad>, 32000 tokens, eos_token_id=151643, eos token: 12345678",
        "SyntaxError: unexpected token: newline",
        "/home/ubuntu/run /root/run user: root",
        "password=None api_key=$WANDB_API_KEY token=*** secret: null",
        "NCCL WARN NET/IB : Got completion from peer 10.0.0.1<4401> with status=12",
        "KeyError: 'password'",
        "PWD=/work/run OLDPWD=~/x pwd: .",
        "http://gpu-1:8000/v1@abc http://[::1]:80/x@y",
        "auth: ldap, forward_pass: 12ms, login node-7 -v",
        f"image sha256: {'0a1b2c3d' * 8} loaded",
        'File "/srv/webhooks/handlers_of_all_kinds/job_exit.py", line 3',
        "_http.py, line 761, in hf_raise_for_status, sk_learn_preprocessing_utilities",
        "launch --world_info=eyJsb2NhbGhvc3QiOiBbMCwgMSwgMiwgMywgNCwgNSwgNiwgN119",
        "glow-tts-model-of-this-season, slot1_7@gpu-12.pool.example, AKIALLGATHERINTOTENSORS",
        "commit 1f0c5d1e2b3a4c5d6e7f8091a2b3c4d5e6f70812 of torch@2.13.0",
        "[rank3]: iteration 12/ 500 | lm loss: 1.234E+00 | grad norm: 0.31 | loss scale: 1.0 |",
        "{'loss': 1.2, 'grad_norm': 0.5, 'learning_rate': 1e-05, 'epoch': 0.3}",
        "Epoch 3:  12%|##        | 120/1000 [10:31<12:29,  1.21s/it, loss=2.113]",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert hidden(text).text == text


def test_the_same_value_has_one_mask_in_all_texts_of_a_log() -> None:
    masks = Masks()
    first = masks.hide("HF_TOKEN=hf_abcdefghijklmnopqrst")
    assert masks.hide("again hf_abcdefghijklmnopqrst").text == "again <KEY_1>"
    assert masks.hide("other hf_zzzzzzzzzzzzzzzzzzzz").text == "other <KEY_2>"
    assert first.places == 1


def test_a_private_key_goes_whole_with_or_without_its_end() -> None:
    body = "\n".join(f"[rank0]: {'Ab3/' * 16}" for _ in range(3))
    key = f"-----BEGIN RSA PRIVATE KEY-----\n{body}\n"
    whole = hidden(f"a\n{key}-----END RSA PRIVATE KEY-----\nb")
    cut = hidden(f"a\n{key}step 12")
    assert whole.text == "a\n<KEY_1>\nb"
    assert "Ab3/" not in cut.text
    assert cut.text.endswith("step 12")
    assert cut.restore(cut.text) == f"a\n{key}step 12"


def test_a_private_key_in_one_line_goes_whole() -> None:
    key = r"-----BEGIN PRIVATE KEY-----\nMIIEvQ\n-----END PRIVATE KEY-----\n"
    text = f'{{"private_key": "{key}", "n": 1}}'
    assert hidden(text).text == '{"private_key": "<KEY_1>", "n": 1}'


def test_lines_of_a_private_key_whose_beginning_is_not_shown_are_masked() -> None:
    body = "\n".join(f"{number}: {'Ab3/' * 16}" for number in range(7, 10))
    assert hidden(f"… 3 lines\n{body}\n10: step 12").text == (
        "… 3 lines\n7: <KEY_1>\n8: <KEY_1>\n9: <KEY_1>\n10: step 12"
    )


def test_addresses_are_masked_on_request_only() -> None:
    text = "peer 10.0.0.1<4401> fe80::1ff:fe23:4567:890a"
    assert hidden(text).text == text
    assert hidden(text, addresses=True).text == "peer <IP_1><4401> <IP_2>"


def test_a_mask_that_was_never_given_stays() -> None:
    assert hidden("a").restore("<KEY_7>") == "<KEY_7>"
