"""What no letter and no mail call may say is refused with the field's name, and nothing is stored."""

from __future__ import annotations

import json

import pytest

from inbox import rules
from inbox.models import MailGroup, Message
from roster.offload import in_database
from tests.make import bearer
from tests.web.calls import stored
from tests.web.test_errors import check

JSON = {"Content-Type": "application/json"}
BIG = 2**63
FULL = rules.LARGEST_BODY


def letter(**said) -> dict:
    return {"to": "echo", "body": "hello"} | said


BAD_LETTERS = [
    ("to", {"body": "x"}), ("to", letter(to="")), ("to", letter(to=[])), ("to", letter(to=[""])), ("to", letter(to=5)),
    ("to", letter(to=None)), ("to", letter(to={"id": "echo"})), ("to", letter(to=["echo"] * 501)),
    ("to", letter(to="x" * 73)), ("to", letter(to="e\0cho")),
    ("body", {"to": "echo"}), ("body", letter(body="")), ("body", letter(body=" \n\t\u2003\u3000")), ("body", letter(body=5)),
    ("body", letter(body=None)), ("body", letter(body=["x"])), ("body", letter(body="a\0b")), ("body", letter(body="\ud83d")),
    ("subject", letter(subject="x" * 301)), ("subject", letter(subject=5)),
    ("subject", letter(subject="\udc00")), ("subject", letter(subject="\0")),
    ("in_reply_to", letter(in_reply_to=0)), ("in_reply_to", letter(in_reply_to=-1)), ("in_reply_to", letter(in_reply_to=BIG)),
    ("in_reply_to", letter(in_reply_to=True)), ("in_reply_to", letter(in_reply_to="1")), ("in_reply_to", letter(in_reply_to=1.0)),
    ("in_reply_to", letter(in_reply_to="x")), ("in_reply_to", letter(in_reply_to=999)), ("in_reply_to", letter(in_reply_to=1.5)),
    ("importance", letter(importance="urgent")), ("importance", letter(importance="")),
    ("expires_at", letter(expires_at="2020-01-01T00:00:00Z")), ("expires_at", letter(expires_at="tomorrow")),
    ("expires_at", letter(expires_at="0001-01-01T00:00:00+14:00")), ("expires_at", letter(expires_at="9999-12-31T23:59:59-14:00")),
    ("expires_at", letter(expires_at=[])), ("expires_at", letter(expires_at=1e300)),
]  # fmt: skip
BAD_CALLS = [
    ("limit", "drain", {"limit": 0}), ("limit", "drain", {"limit": 501}), ("limit", "drain", {"limit": "many"}),
    ("lease_seconds", "drain", {"lease_seconds": 0}), ("lease_seconds", "drain", {"lease_seconds": 12 * 3600 + 1}),
    ("limit", "drain", {"limit": True}), ("limit", "drain", {"limit": "5"}), ("lease_seconds", "drain", {"lease_seconds": 60.0}),
    ("seqs.0", "ack", {"seqs": [True]}), ("seqs.0", "ack", {"seqs": ["1"]}), ("seqs.0", "ack", {"seqs": [1.0]}),
    ("lease_seconds", "drain", {"lease_seconds": -1}), ("session", "drain", {"session": "x" * 201}),
    ("session", "drain", {"session": "a\0"}),
    ("seqs", "ack", {}), ("seqs", "ack", {"seqs": []}), ("seqs", "ack", {"seqs": list(range(1, 502))}),
    ("seqs.0", "ack", {"seqs": [0]}), ("seqs.0", "ack", {"seqs": [BIG]}), ("seqs.1", "ack", {"seqs": [1, "x"]}),
    ("seqs", "ack", {"seqs": 1}), ("lease", "ack", {"seqs": [1], "lease": ""}), ("lease", "ack", {"seqs": [1], "lease": 5}),
    ("lease", "ack", {"seqs": [1], "lease": "x" * 201}), ("lease", "extend", {}), ("lease", "extend", {"lease": None}),
    ("lease_seconds", "extend", {"lease": "x", "lease_seconds": 0}),
    ("lease_seconds", "extend", {"lease": "x", "lease_seconds": 43_201}),
    ("lease", "release", {}), ("lease", "release", {"lease": "\0"}), ("seqs", "release", {"lease": "x", "seqs": []}),
]  # fmt: skip
BAD_LOOKS = [
    ("state", "agents/echo/inbox?state=gone"), ("state", "agents/echo/inbox?state="), ("limit", "agents/echo/inbox?limit=0"),
    ("limit", "agents/echo/inbox?limit=501"), ("limit", "agents/echo/inbox?limit=x"), ("after", "agents/echo/inbox?after=-1"),
    ("after", f"agents/echo/inbox?after={BIG}"), ("after", "agents/echo/inbox?after=x"), ("seq", "messages/x"),
    ("seq", "messages/1.5"), ("seq", "threads/x"), ("limit", "threads/1?limit=501"), ("after", "threads/1?after=-1"),
]  # fmt: skip
SUBJECTS = [
    "a\r\nBcc: bram", "\u202egnp.exe", "\u2066x\u2069", "\x1b[2J", "\x07\x08\x7f\x85", "\u2028\u2029", "  x ", "=1+1",
    "<script>alert(1)</script>", "e\u0301 \U0001f98a \ufeff", "x" * 300, "\U0001f98a" * 300,
]  # fmt: skip
KEYS = [b"", b"two words", b" ", b"tab\there", "schl\u00fcssel".encode(), "\U0001f511".encode(), b"x" * 201, b"\x7f"]


@pytest.mark.core
async def test_a_bad_letter_is_refused_and_nothing_is_stored(api, fleet):
    before = await in_database(stored)
    for field, said in BAD_LETTERS:
        answer = await api.post("/api/messages", content=json.dumps(said), headers=bearer(fleet.agent) | JSON)
        assert check(answer, 422, "invalid")["detail"]["field"] == field, (said, answer.text)
    assert await in_database(stored) == before


async def test_a_bad_call_is_refused_and_nothing_is_changed(api, fleet):
    await api.post("/api/messages", json=letter(), headers=bearer(fleet.agent))
    before = await in_database(stored)
    for field, call, said in BAD_CALLS:
        answer = await api.post(f"/api/agents/echo/inbox/{call}", json=said, headers=bearer(fleet.agent))
        assert check(answer, 422, "invalid")["detail"]["field"] == field, (call, said, answer.text)
    for field, address in BAD_LOOKS:
        answer = await api.get(f"/api/{address}", headers=bearer(fleet.agent))
        assert check(answer, 422, "invalid")["detail"]["field"] == field, (address, answer.text)
    for number in (0, -1, BIG, 10**30):
        for path in ("messages", "threads"):
            check(await api.get(f"/api/{path}/{number}", headers=bearer(fleet.agent)), 422, "invalid")
        check(await api.post(f"/api/messages/{number}/read", headers=bearer(fleet.agent)), 422, "invalid")
    assert await in_database(stored) == before


async def test_a_key_that_is_none_is_refused_P28(api, fleet):
    for key in KEYS:
        headers = [("Authorization", f"Bearer {fleet.agent}".encode()), ("Idempotency-Key", key)]
        answer = await api.post("/api/messages", json=letter(), headers=headers)
        assert check(answer, 422, "invalid")["detail"]["field"] == "Idempotency-Key", key
    assert not await in_database(Message.objects.exists)


async def test_a_key_stands_for_one_letter_P28(api, fleet):
    """Of one sender: another may use the same."""
    headers = bearer(fleet.agent, **{"Idempotency-Key": "!" * 199 + "~"})
    first = await api.post("/api/messages", json=letter(), headers=headers)
    again = await api.post("/api/messages", json=letter(), headers=headers)
    assert (first.status_code, again.status_code, first.json()) == (201, 201, again.json())
    for said in ({"body": "x"}, {"subject": "x"}, {"to": ["bram"]}, {"importance": "high"}, {"in_reply_to": 1}):
        answer = await api.post("/api/messages", json=letter(**said), headers=headers)
        assert check(answer, 422, "key_reused")["detail"]["field"] == "Idempotency-Key"
    other = await api.post("/api/messages", json=letter(body="x"), headers=headers | bearer(fleet.bram))
    assert other.status_code == 201 and await in_database(Message.objects.count) == 2


SIZES = {
    "ASCII": json.dumps(letter(body="a" * FULL)),
    "ASCII, each an escape": '{"to": "echo", "body": "' + "\\u0061" * FULL + '"}',
    "two bytes each": json.dumps(letter(body="\u00e9" * (FULL // 2)), ensure_ascii=False),
    "four bytes each, as pairs of escapes": json.dumps(letter(body="\U0001f98a" * (FULL // 4))),
    "quotes and backslashes": json.dumps(letter(body='"\\' * (FULL // 2))),
}


async def test_a_body_of_256_kb_passes_and_one_byte_more_does_not_P27(api, fleet):
    own = bearer(fleet.agent) | JSON
    for what, fits in SIZES.items():
        over = fits.encode()[:-2] + b'x"}'
        refused = check(await api.post("/api/messages", content=over, headers=own), 413, "too_large")
        assert refused["detail"] == {"field": "body", "limit": FULL}
        sent = await api.post("/api/messages", content=fits.encode(), headers=own)
        kept = (await api.get(f"/api/messages/{sent.json()['seq']}", headers=own)).json()
        assert (kept["size"], kept["body"]) == (FULL, json.loads(fits)["body"]), what
    assert await in_database(Message.objects.count) == len(SIZES)


async def test_a_request_that_no_letter_needs_is_refused_unread_P27(api, fleet):
    most = 2 * 1024 * 1024
    padded = json.dumps(letter(body="x")).encode()
    for size, status in ((most, 201), (most + 1, 413)):
        answer = await api.post("/api/messages", content=padded.ljust(size), headers=bearer(fleet.agent) | JSON)
        assert answer.status_code == status
    other = await api.post("/api/agents/echo/inbox/ack", content=b" " * 65537, headers=bearer(fleet.agent) | JSON)
    check(other, 413, "too_large")


async def test_subjects_are_kept_as_they_were_sent(api, fleet):
    own = bearer(fleet.agent)
    for subject in SUBJECTS:
        seq = (await api.post("/api/messages", json=letter(subject=subject), headers=own)).json()["seq"]
        assert (await api.get(f"/api/messages/{seq}", headers=own)).json()["subject"] == subject, ascii(subject)
    peeked = (await api.get("/api/agents/echo/inbox", headers=own)).json()["messages"]
    taken = (await api.post("/api/agents/echo/inbox/drain", headers=own)).json()["messages"]
    assert [[each["subject"] for each in found] for found in (peeked, taken)] == [SUBJECTS] * 2


async def test_a_send_to_who_is_not_there_says_who_is_near_and_stores_nothing(api, fleet):
    before = await in_database(stored)
    names = ["echo", "Echo", "ecko", "zz", "b\u043ebby", "bram", "ec\u202eho"]
    answer = await api.post("/api/messages", json=letter(to=names), headers=bearer(fleet.agent))
    told = check(answer, 404, "unknown_recipient")["detail"]["unknown"]
    assert {each["to"]: each["hint"] for each in told} == {
        "Echo": "echo", "ecko": "echo", "zz": None, "b\u043ebby": None, "ec\u202eho": None,
    }  # fmt: skip
    assert await in_database(stored) == before


async def test_an_unknown_group_names_those_there_are(api, fleet):
    await in_database(lambda: [MailGroup.objects.create(name=name) for name in ("ops", "night")])
    before = await in_database(stored)
    for to in ("group:nope", "group:", "group:OPS", "group:group:ops"):
        answer = await api.post("/api/messages", json=letter(to=to), headers=bearer(fleet.agent))
        assert check(answer, 404, "unknown_group")["detail"]["groups"] == ["night", "ops"], to
    told = check(
        await api.post("/api/messages", json=letter(to="group:ops"), headers=bearer(fleet.agent)), 409, "nobody"
    )
    assert (told["state"], told["allowed"]) == ("nobody", [])
    listed = await api.post("/api/messages", json=letter(to=["group:ops"]), headers=bearer(fleet.agent))
    check(listed, 404, "unknown_recipient")
    assert await in_database(stored) == before


async def test_duplicates_count_once_and_500_names_are_taken(api, fleet):
    sent = await api.post(
        "/api/messages", json=letter(to=["echo", "bram", "echo"] + ["bram"] * 497), headers=bearer(fleet.agent)
    )
    assert (sent.status_code, [each["to"] for each in sent.json()["deliveries"]]) == (201, ["echo", "bram"])


async def test_null_is_taken_for_what_is_left_out(api, fleet):
    own = bearer(fleet.agent)
    nulls = dict.fromkeys(("subject", "in_reply_to", "importance", "expires_at"))
    sent = await api.post("/api/messages", json={"to": "echo", "body": "x", **nulls}, headers=own)
    assert sent.status_code == 201
    told = (await api.get(f"/api/messages/{sent.json()['seq']}", headers=own)).json()
    assert (told["subject"], told["importance"], told["expires_at"]) == ("", "normal", None)
    drained = await api.post("/api/agents/echo/inbox/drain", json={"session": None}, headers=own)
    assert drained.status_code == 200 and len(drained.json()["messages"]) == 1
