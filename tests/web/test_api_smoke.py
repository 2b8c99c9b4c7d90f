from tests import make


async def test_a_new_agent_registers_beats_and_is_listed(api, enrolment):
    made = await api.put("/api/agents/echo", json={"status": "idle"}, headers=make.bearer(enrolment))
    assert made.status_code == 201, made.text
    own = make.bearer(made.json()["token"])
    beaten = await api.post("/api/heartbeat", json={"status": "working: release notes"}, headers=own)
    assert beaten.json()["presence"] == "live"
    listed = (await api.get("/api/agents", headers=own)).json()["agents"]
    assert [(each["id"], each["task"]) for each in listed] == [("echo", "release notes")]
