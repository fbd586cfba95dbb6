import re

from app.api.problems import MEDIA_TYPE


def test_the_documentation_page_loads_nothing_from_elsewhere(client):
    page = client.get("/docs")
    assert page.status_code == 200
    links = re.findall(r"(?:src|href)=\"([^\"]+)\"", page.text)
    assert links
    assert all(link.startswith("/") for link in links)
    assert all(client.get(link).status_code == 200 for link in links)


def test_every_reference_in_the_openapi_document_leads_somewhere(client):
    document = client.get("/openapi.json")
    schemas = document.json()["components"]["schemas"]
    references = set(re.findall(r"#/components/schemas/(\w+)", document.text))
    assert references <= set(schemas)
    assert {"Problem", "DiagnosisRequest", "Complete"} <= references


def test_the_openapi_document_states_bodies_answers_and_problems(client):
    paths = client.get("/openapi.json").json()["paths"]
    post = paths["/v1/diagnoses"]["post"]
    assert set(post["requestBody"]["content"]) == {
        "application/json", "text/plain", "application/octet-stream",
    }  # fmt: skip
    assert {"200", "202", "400", "403", "404", "413", "415", "422", "429"} <= set(post["responses"])
    assert MEDIA_TYPE in post["responses"]["429"]["content"]
    assert "Location" in post["responses"]["202"]["headers"]
    assert set(paths["/v1/diagnoses/{id}/events"]["get"]["responses"]["200"]["content"]) == {
        "text/event-stream"
    }
