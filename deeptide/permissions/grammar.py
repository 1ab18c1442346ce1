"""The kinds of syntax nodes and what each means to the walk.

Invariant: a kind that is in no table is a problem of the line, never passed over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

SEQUENCES = frozenset(
    {
        "program",
        "do_group",
        "compound_statement",
        "if_statement",
        "elif_clause",
        "else_clause",
        "while_statement",
    }
    | {"case_statement", "case_item", "negated_command", "c_style_for_statement"}
)
INERT = frozenset(
    {
        "comment",
        "test_command",
        "word",
        "string",
        "raw_string",
        "number",
        "concatenation",
        "extglob_pattern",
        "regex",
    }
    | {
        "heredoc_end",
        "heredoc_start",
        "variable_name",
        "binary_expression",
        "unary_expression",
        "string_content",
    }
    | {
        "postfix_expression",
        "parenthesized_expression",
        "ternary_expression",
        "arithmetic_expansion",
        "subscript",
    }
    | {
        "simple_expansion",
        "expansion",
        "ansi_c_string",
        "translated_string",
        "brace_expression",
        "file_descriptor",
    }
    | {"special_variable_name", "test_operator", "array", "heredoc_content"}
)

WORDS = frozenset(
    {"word", "string", "raw_string", "ansi_c_string", "translated_string", "number", "concatenation", "array"}
    | {
        "simple_expansion",
        "expansion",
        "command_substitution",
        "process_substitution",
        "arithmetic_expansion",
    }
    | {"brace_expression", "extglob_pattern", "regex", "variable_name", "special_variable_name"}
)

MAYBE = frozenset(
    {"if_statement", "while_statement", "for_statement", "c_style_for_statement", "case_statement"}
)
MAYBE |= {
    "list",
    "function_definition",
    "subshell",
    "command_substitution",
    "process_substitution",
    "pipeline",
}
LOOPS = frozenset({"while_statement", "for_statement", "c_style_for_statement"})
_JUDGED = frozenset({"command", "declaration_command", "unset_command", "file_redirect", "heredoc_redirect"})


def place(node: Node) -> tuple[int, int]:
    return node.start_byte, node.end_byte


def judged(root: Node) -> list[Node]:
    """The nodes that must have been visited: commands and redirects."""
    found: list[Node] = []
    waiting = [root]
    while waiting:
        node = waiting.pop()
        waiting.extend(node.children)
        if node.type in _JUDGED:
            found.append(node)
    return found
