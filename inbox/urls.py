"""The addresses of the pages of mail."""

from django.urls import path

from .views import boxes, news, searching, writing

urlpatterns = [
    path("", boxes.own_box, name="inbox"),
    path("act/", boxes.act, name="inbox-act"),
    path("news/", news.news, name="inbox-news"),
    path("search/", searching.found, name="inbox-search"),
    path("write/", writing.write, name="inbox-write"),
    path("write/who/", writing.who, name="inbox-who"),
    path("m/<int:seq>/", boxes.own_thread, name="message"),
    path("of/<str:slug>/", boxes.others_box, name="inbox-of"),
    path("of/<str:slug>/m/<int:seq>/", boxes.others_thread, name="message-of"),
    path("of/<str:slug>/<str:box>/", boxes.others_box, name="inbox-of-box"),
    path("<str:box>/", boxes.own_box, name="inbox-box"),
]
