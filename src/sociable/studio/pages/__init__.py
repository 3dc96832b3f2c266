"""The studio's pages, one module a subject: functions of a request, and their ``ROUTES``."""
