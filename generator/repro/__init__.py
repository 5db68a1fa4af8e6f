"""Run the reproductions of the entries, and judge what comes of them.

======== =====================================================================================
script       repro.py → its PEP 723 block and parts
environment  dependencies → a virtual environment in the user's cache, made by pip
process      script, part, environment → seconds, exit code, output; nothing left running
interrupt    a process that ends with us, also where SIGTERM tells us to end
neutral      output → output without this machine's paths and names
judge        output → what ``diagnose`` says of it, and whether that is what the entry promises
reproduce    entry → an outcome a part; and the log that is captured
report       outcomes → a table or JSON
======== =====================================================================================
"""
