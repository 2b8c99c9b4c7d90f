"""The addresses of the record of an agent."""

from django.urls import path

from .views import records

urlpatterns = [
    path("<str:slug>/record/", records.record, name="record"),
    path("<str:slug>/record/ask/", records.ask, name="record-ask"),
]
