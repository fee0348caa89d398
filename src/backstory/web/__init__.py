"""The web page: search, replay, correct and delete memories and conversations in a browser.

A page is a function from a Core and a query to a View: a template, and a body that is also the page's JSON. Text of a
memory or a message is never HTML: templates escape, and Markdown is rendered with HTML switched off.
"""
