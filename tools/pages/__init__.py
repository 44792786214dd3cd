"""What the documentation site shows beside the pages in docs/: made by the build from the code itself.

`hooks.py` is what MkDocs calls. `api.py` groups the public names, `docstrings.py` turns docstrings into Markdown,
`commands.py` reads the command line, `messages.py` the errors; `terms.py` links words of the glossary and public
names; `browser.py` looks at the built site in Chromium (`python -m tools.pages.browser`).
"""
