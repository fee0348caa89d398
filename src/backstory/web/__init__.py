"""The page: what the memory holds, in a browser. It is searched, replayed, corrected and deleted here.

Pages are functions from a Core and what was asked to a View: a template, and a body that is also the page's JSON. Text of a
memory or a message is never HTML: templates escape, and Markdown is rendered with HTML switched off.
"""
