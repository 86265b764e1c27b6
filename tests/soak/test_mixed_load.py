"""Two minutes of mixed load on cleat, with faults and floods: nothing grows, and no client fails
without a reason."""

EXACT = ("descriptors", "threads", "connections", "upstream_connections")


def test_nothing_grows_and_no_client_fails(soak) -> None:
    code, document, report = soak("--minutes", 2)
    assert document["faults"] == [], report
    assert code == 0
    verdicts = {each["series"]: each["verdict"] for each in document["trends"]}
    assert {name: verdicts[name] for name in EXACT} == dict.fromkeys(EXACT, "steady"), report
    # There was load in each phase, and each disturbance has come about.
    for cycle in document["cycles"]:
        assert all(phase["attempts"] > 0 for phase in cycle["phases"].values())
        assert cycle["flood"]["rate"] < cycle["flood"]["rate_asked"]
    assert document["idle"]["asked"] > 500
    assert document["idle"]["cut_with_server"] > 0
    assert max(document["samples"]["configurations"]) > 1
