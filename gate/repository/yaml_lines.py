"""YAML whose mappings know their lines, so that a finding can say where it is."""

from typing import Any

import yaml

from gate.strangers import is_small

YamlError = yaml.YAMLError


class Mapped(dict[Any, Any]):
    """A mapping; `line` is where it starts, `lines` where each key stands. The key `on` stays the text `on`."""

    def __init__(self, line: int = 1) -> None:
        super().__init__()
        self.line = line
        self.lines: dict[str, int] = {}

    def at(self, key: str) -> int:
        """Return the line of a key, that of the mapping where it has none."""
        return self.lines.get(key, self.line)


class _Loader(yaml.SafeLoader):
    def construct_yaml_map(self, node: yaml.MappingNode) -> Any:
        found = Mapped(node.start_mark.line + 1)
        yield found
        self.flatten_mapping(node)
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                found.lines[key.value] = key.start_mark.line + 1
                if key.value in ("on", "off", "yes", "no"):  # YAML 1.1 reads them as true and false; GitHub does not
                    key.tag = "tag:yaml.org,2002:str"
        found.update(self.construct_mapping(node))


_Loader.add_constructor("tag:yaml.org,2002:map", _Loader.construct_yaml_map)
_Loader.add_multi_constructor("!", lambda *_: None)  # an application's own tags: what they mean is not ours to say


def read_yaml(text: str) -> Any:
    """Return what the first document of a text holds. Raises YamlError, and ValueError for values that are none."""
    loader: Any = _Loader(text)
    try:
        found = loader.get_data() if loader.check_data() else None
    except (TypeError, AttributeError, LookupError, ArithmeticError) as error:
        raise ValueError(f"a value is not of the type that its tag says ({error})") from error
    finally:
        loader.dispose()
    if not is_small(found):
        raise ValueError("its aliases lead back into themselves, or write out to too much")
    return found
