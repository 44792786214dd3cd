"""What MkDocs calls while it builds: made pages, pictures, drawings, formulas and links."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

from tools.pages import api, commands, messages, terms

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "build" / "pictures"
OF_THE_PROJECT = {"SECURITY.md": "security.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changes.md"}
"""Files that stand where others look for them, shown below project/."""
OPTIONAL = {
    "Reproductions": "reproductions.md",
    "Beside other libraries": "comparison.md",
    "Solvers on real data": "solver-rows.md",
}
"""Pages below Figures that are shown if they are there."""
LINK = re.compile(r"\]\(([^)#\s]+)(#[^)\s]*)?\)")
DRAWING = re.compile(r'<img alt="([^"]*)" src="[^"]*drawings/([\w-]+\.svg)"[^>]*>')
FORMULA = re.compile(r"^( *)\$\$\n(.+?)\n *\$\$$", re.MULTILINE | re.DOTALL)


def on_config(config: Any) -> Any:
    """Put into the navigation what is made or may be lacking."""
    docs = Path(config.docs_dir)
    decisions = sorted(path.relative_to(docs).as_posix() for path in (docs / "decisions").glob("*.md"))
    _section(config.nav, "Reference", "API")[:] = [
        {group.title: f"reference/api/{page}.md"} for page, group in api.GROUPS.items()
    ]
    _section(config.nav, "Project", "Decisions")[:] = decisions
    _section(config.nav, "Figures")[:0] = [{title: name} for title, name in OPTIONAL.items() if (docs / name).exists()]
    return config


def _section(nav: Any, *names: str) -> Any:
    """The list below these titles."""
    for name in names:
        nav = next(entry[name] for entry in nav if isinstance(entry, dict) and name in entry)
    return nav


def on_files(files: Files, config: Any) -> Files:
    """Add pages that are made from the code, files of the project, and pictures that examples drew."""
    made = {**api.pages(), "reference/commands.md": commands.page(), "reference/messages.md": messages.page()}
    made |= {f"project/{page}": _of_the_project(name) for name, page in OF_THE_PROJECT.items()}
    for name, text in made.items():
        files.append(File.generated(config, name, content=text))
    for picture in sorted(PICTURES.rglob("*.svg")):
        files.append(File.generated(config, picture.relative_to(PICTURES).as_posix(), abs_src_path=str(picture)))
    return files


def _of_the_project(name: str) -> str:
    """A file of the root with links as they are below project/."""

    def moved(found: re.Match[str]) -> str:
        target, anchor = found[1], found[2] or ""
        if target in OF_THE_PROJECT:
            return f"]({OF_THE_PROJECT[target]}{anchor})"
        return f"](../{target.removeprefix('docs/')}{anchor})" if target.startswith("docs/") else found[0]

    return LINK.sub(moved, (ROOT / name).read_text(encoding="utf-8"))


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Formulas become MathML, examples with prompts get the colours of a session."""
    formulas = FORMULA.sub(lambda found: f"\n{found[1]}{convert(found[2], display='block')}\n", markdown)
    if "\n$$" in formulas:
        raise PluginError(f"{page.file.src_uri}: a formula is not closed by a line of $$")
    return formulas.replace("```python\n>>>", "```pycon\n>>>")


def on_page_content(html: str, page: Any, config: Any, files: Files) -> str:
    """Drawings stand in the page, where they take its colours; terms and names are linked."""
    html = DRAWING.sub(lambda found: _drawing(Path(config.docs_dir), found[2], found[1]), html)
    here = page.file
    places = {name: _address(files, place, here) for name, place in _anchors().items()}
    html = terms.link_names(html, places)
    glossary = files.get_file_from_path("glossary.md")
    if glossary is None:
        raise PluginError("docs/glossary.md is lacking")
    known = {} if here == glossary or here.src_uri.startswith("reference/") else _terms()
    return terms.link_terms(html, known, glossary.url_relative_to(here))


def on_post_build(config: Any) -> None:
    """A page for addresses that a server does not know has no use in files, and absolute links."""
    (Path(config.site_dir) / "404.html").unlink(missing_ok=True)


@cache
def _anchors() -> dict[str, str]:
    return api.anchors()


@cache
def _terms() -> dict[str, str]:
    return terms.terms()


def _address(files: Files, place: str, here: File) -> str:
    name, _, anchor = place.partition("#")
    file = files.get_file_from_path(name)
    if file is None:
        raise PluginError(f"there is no page {name}")
    return f"{file.url_relative_to(here)}#{anchor}"


def _drawing(docs: Path, name: str, alt: str) -> str:
    """The drawing itself, with its title for those who hear the page."""
    text = (docs / "drawings" / name).read_text(encoding="utf-8").strip()
    return text.replace("<svg ", f'<svg class="drawing" role="img" aria-label="{alt}" ', 1)
