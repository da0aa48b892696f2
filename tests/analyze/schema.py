# SPDX-License-Identifier: MIT
"""Checks a JSON value against the part of JSON Schema that docs/report.schema.json uses."""
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
KNOWN = {"$schema", "$id", "$defs", "$ref", "title", "description", "type", "properties", "required",
         "additionalProperties", "items", "enum", "const", "minimum", "maximum", "minItems",
         "maxItems", "pattern", "anyOf"}


def is_type(value, name):
    if name in ("integer", "number"):
        kinds = int if name == "integer" else (int, float)
        return isinstance(value, kinds) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def check(value, schema, root, where="$"):
    """Problems as a list of texts. An unknown keyword is a problem: it would check nothing."""
    import re
    problems = [f"{where}: schema keyword {k} is not known here" for k in schema.keys() - KNOWN]
    if "$ref" in schema:
        target = root
        for step in schema["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        problems += check(value, target, root, where)
    names = schema.get("type", [])
    names = [names] if isinstance(names, str) else names
    if names and not any(is_type(value, n) for n in names):
        return problems + [f"{where}: {value!r:.60} is no {' or '.join(names)}"]
    if "anyOf" in schema:
        tries = [check(value, s, root, where) for s in schema["anyOf"]]
        if all(tries):
            problems += min(tries, key=len)
    if "enum" in schema and value not in schema["enum"]:
        problems.append(f"{where}: {value!r} is none of {schema['enum']}")
    if "const" in schema and value != schema["const"]:
        problems.append(f"{where}: {value!r} is not {schema['const']!r}")
    if is_type(value, "number"):
        if value < schema.get("minimum", value) or value > schema.get("maximum", value):
            problems.append(f"{where}: {value} is out of range")
    if isinstance(value, str) and not re.search(schema.get("pattern", ""), value):
        problems.append(f"{where}: {value!r:.60} does not match {schema['pattern']}")
    if isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            problems.append(f"{where}: {len(value)} items")
        for i, item in enumerate(value):
            problems += check(item, schema.get("items", {}), root, f"{where}[{i}]")
    if isinstance(value, dict):
        known = schema.get("properties", {})
        problems += [f"{where}: lacks {k}" for k in schema.get("required", []) if k not in value]
        for k, item in value.items():
            if k in known:
                problems += check(item, known[k], root, f"{where}.{k}")
            elif schema.get("additionalProperties") is False:
                problems.append(f"{where}: {k} is not in the schema")
    return problems
