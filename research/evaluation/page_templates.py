"""The templates of the pages. All text that is put into them is escaped."""

from importlib import resources

from jinja2 import Environment, FunctionLoader, StrictUndefined, Template

from intarsia_research.evaluation import figure_text


def page_template(name: str, **filters: object) -> Template:
    """Return a template of this folder, with the filters of figures and the given ones."""
    environment = Environment(
        loader=FunctionLoader(_source),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "percent": figure_text.percent,
        "percent_between": figure_text.percent_between,
        "percent_with_interval": figure_text.percent_with_interval,
        "number": figure_text.number,
        "number_between": figure_text.number_between,
        **filters,
    }
    return environment.get_template(name)


def _source(name: str) -> str:
    folder = resources.files("intarsia_research.evaluation")
    return folder.joinpath(name).read_text(encoding="utf-8")
