"""What pelican-quickstart writes, for the same articles as the other tools'."""

AUTHOR = "Somebody"
SITENAME = "Failures"
SITEURL = "https://example.org"
PATH = "content"
TIMEZONE = "UTC"
DEFAULT_LANG = "en"
DEFAULT_PAGINATION = 10
