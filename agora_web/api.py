"""The one API object, and the one map from errors to HTTP: every answer that is no success has the same shape."""

from __future__ import annotations

import logging

from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, ValidationError
from ninja.parser import Parser

import inbox.api
import roster.api
from roster import body
from roster.errors import Conflict, HubError, Unauthorized, Unavailable

from .requests import request_id

log = logging.getLogger("agora.api")


class HubParser(Parser):
    def parse_body(self, request: HttpRequest):
        value = body.parse(request)
        if not isinstance(value, dict):  # the frame would take it for an empty object
            raise body.Malformed("The body must be a JSON object.", field="body")
        return value


api = NinjaAPI(
    title="Agora hub",
    version="1",
    description="Who is in the fleet, who can be reached right now, and how we know. All times are RFC 3339 in UTC.",
    parser=HubParser(),
    docs_url="/docs",
    openapi_extra={
        "components": {"securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}}},
        "security": [{"bearer": []}],
    },
)
for router in (*roster.api.ROUTERS, *inbox.api.ROUTERS):
    api.add_router("", router)


def error(request: HttpRequest, status: int, code: str, message: str, detail=None, **beside) -> JsonResponse:
    """The one error shape: ``{"error": {code, message, detail, request_id, …}}``."""
    told = {"code": code, "message": message, "detail": detail or {}, "request_id": request_id(request), **beside}
    return JsonResponse({"error": told}, status=status)


@api.exception_handler(HubError)
def hub_error(request: HttpRequest, why: HubError) -> HttpResponse:
    if why.status == 403:
        log.warning("refused: %s %s: %s", request.method, request.path, why.code)
    beside = {"state": why.state, "allowed": why.allowed} if isinstance(why, Conflict) else {}
    answer = error(request, why.status, why.code, why.message, why.detail, **beside)
    if why.status == 401:
        answer["WWW-Authenticate"] = "Bearer"
    if hasattr(why, "retry_after"):
        answer["Retry-After"] = str(why.retry_after)
    return answer


@api.exception_handler(AuthenticationError)
def unauthorized(request: HttpRequest, why: AuthenticationError) -> HttpResponse:
    return hub_error(request, Unauthorized())


@api.exception_handler(ValidationError)
def invalid(request: HttpRequest, why: ValidationError) -> HttpResponse:
    fields = [
        {
            "field": ".".join(map(str, each["loc"][2:])) or str(each["loc"][-1]),
            "problem": each["msg"].removeprefix("Value error, "),
        }
        for each in why.errors
    ]
    message = "; ".join(f"{each['field']}: {each['problem']}" for each in fields)
    return error(request, 422, "invalid", message, {"field": fields[0]["field"], "fields": fields})


@api.exception_handler(HttpError)
def http_error(request: HttpRequest, why: HttpError) -> HttpResponse:
    if isinstance(why.__cause__, HubError):  # what the body parser said
        return hub_error(request, why.__cause__)
    return error(request, why.status_code, "bad_request", str(why))


@api.exception_handler(Http404)
def not_found(request: HttpRequest, why: Http404) -> HttpResponse:
    return error(request, 404, "not_found", "There is nothing at this address.")


@api.exception_handler(OperationalError)
@api.exception_handler(InterfaceError)
def database_away(request: HttpRequest, why: Exception) -> HttpResponse:
    log.error("database away: %s %s: %s", request.method, request.path, type(why).__name__)
    return hub_error(request, Unavailable("The database does not answer. Nothing was stored; try again."))


@api.exception_handler(Exception)
def unexpected(request: HttpRequest, why: Exception) -> HttpResponse:
    log.error("unexpected error %s: %s %s", request_id(request), request.method, request.path, exc_info=why)
    return error(request, 500, "internal", "The hub failed at this. The error is logged under the request id.")
