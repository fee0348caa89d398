"""Tasks for specialised agents: analyses and syntheses of the visible items, alone or in a chain."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypedDict

from ...core import Core
from ...domain.errors import InvalidInput
from ...tools import READS
from ...tools.params import Json
from .tasks import FIELDS, read_scope, run_task
from .vocabulary import surface

if TYPE_CHECKING:
    from ...core.insight.findings import Finding
    from .analysis.trends import Series
    from .analysis.work import InsightReport

MOST_TASKS = 10
MOST_FINDINGS = 60  # maximum for all tasks together, and for the latest points of a series

TaskType = Literal["analyze", "synthesize"]


class TaskMetadata(TypedDict):
    duration: float
    agentType: str
    taskId: str


class DelegateAnswer(TypedDict):
    result: dict[str, Any]
    confidence: float
    reasoning: str
    metadata: TaskMetadata


class _Step(NamedTuple):
    task: str
    report: InsightReport


@surface.tool("Delegate analysis", READS)
def context_delegate(
    core: Core,
    task_type: Annotated[TaskType | list[TaskType], "One task, or several to run in order"],
    input: Annotated[
        Any,
        "analyze: {analysisType: patterns|relationships|trends|comprehensive, categories, timeframe, maxDepth, "
        "entityTypes, metrics, includeAll}. synthesize: {synthesisType: summary|recommendations|narrative, maxLength, "
        "categories, analysisResults, priorities, includeMetrics, includeLearnings}. A list has one for each task",
    ],
    chain: Annotated[
        bool | None, "Pass what each task found on to the next (default: if taskType is a list)"
    ] = None,
    context: Annotated[
        Any, "{sessionId} narrows to a session; findings that mention other words in it come first"
    ] = None,
) -> DelegateAnswer:
    """Have the visible items analyzed (patterns, relationships, trends, comprehensive) or put together (summary,
    recommendations, narrative). Each statement names the items it rests on; confidence is computed from them."""
    began = perf_counter()
    linked = isinstance(task_type, list) if chain is None else chain
    steps: list[_Step] = []
    for task, task_input in _paired(task_type, input):
        core.call.raise_if_cancelled()
        steps.append(_run(core, task, task_input, context, steps if linked else []))
    is_one = not isinstance(task_type, list) and not isinstance(input, list)
    reply = _one(steps[0]) if is_one else _several(steps, linked=linked)
    metadata: TaskMetadata = {
        "duration": round((perf_counter() - began) * 1000, 3),
        "agentType": _agent(steps),
        "taskId": core.engine.new_id(),
    }
    return {
        "result": reply["result"],
        "confidence": reply["confidence"],
        "reasoning": reply["reasoning"],
        "metadata": metadata,
    }


def _paired(task_type: str | list[TaskType], task_input: Any) -> list[tuple[str, Any]]:
    """Pair each task with its input. One task may have several inputs, and several tasks may share one."""
    if not task_type:
        raise InvalidInput("taskType is empty.", hint="Name at least one task.", field="taskType")
    if not isinstance(task_type, list):
        inputs = task_input if isinstance(task_input, list) else [task_input]
        tasks: list[str] = [task_type] * len(inputs)
    else:
        tasks = list(task_type)
        inputs = task_input if isinstance(task_input, list) else [_part(task_input, task) for task in tasks]
    if len(tasks) > MOST_TASKS:
        raise InvalidInput(f"At most {MOST_TASKS} tasks run in one call.", field="taskType")
    if not tasks or len(tasks) != len(inputs):
        raise InvalidInput(
            f"There are {len(tasks)} tasks and {len(inputs)} inputs.", hint="Give one input for each task.", field="input"
        )  # fmt: skip
    return list(zip(tasks, inputs, strict=True))


def _part(shared: Any, task: str) -> Any:
    """Return the part of a shared input for a task: the fields that it knows."""
    if not isinstance(shared, dict):
        return shared
    others = {name for other, fields in FIELDS.items() if other != task for name in fields}
    return {name: value for name, value in shared.items() if name in FIELDS[task] or name not in others}


def _run(core: Core, task: str, task_input: Any, context: Any, before: list[_Step]) -> _Step:
    findings = [finding for step in before for finding in step.report.findings]
    return _Step(task, run_task(core, task, task_input, read_scope(core, context), findings))


def _one(step: _Step, most: int = MOST_FINDINGS) -> Json:
    value, reasoning = step.report.confidence
    return {"result": _report_body(step.report, most), "confidence": value, "reasoning": reasoning}


def _several(steps: list[_Step], *, linked: bool) -> Json:
    """Combine steps. A chain is as certain as its least certain step; independent tasks are averaged."""
    values = [step.report.confidence.value for step in steps]
    value = min(values) if linked else round(sum(values) / len(values), 2)
    rule = "The least sure step counts" if linked else "The mean of all tasks counts"
    reasoning = " ".join(
        f"{number}. {step.task} {step.report.kind}: {step.report.confidence.reasoning}"
        for number, step in enumerate(steps, 1)
    )
    parts = [{"taskType": step.task, **_one(step, MOST_FINDINGS // len(steps))} for step in steps]
    result = {"chain": linked, "steps": parts}
    return {"result": result, "confidence": value, "reasoning": f"{rule}: {value:.2f}. {reasoning}"}


def _agent(steps: list[_Step]) -> str:
    names = dict.fromkeys("analyzer" if step.task == "analyze" else "synthesizer" for step in steps)
    return "+".join(names)


def _report_body(report: InsightReport, most: int) -> Json:
    result: Json = {"type": report.kind, "itemsAnalyzed": report.looked_at, "itemsVisible": report.total}
    name = "recommendations" if report.kind == "recommendations" else "findings"
    if report.findings or report.kind not in ("summary", "narrative"):
        result[name] = [_finding(finding) for finding in report.findings[:most]]
    if report.series:
        result["series"] = [_series(series, most) for series in report.series]
    if report.text:
        result["narrative" if report.kind == "narrative" else "summary"] = report.text
    if report.chapters:
        result["sections"] = [
            {"title": each.title, "text": each.text, "evidence": [source._asdict() for source in each.evidence]}
            for each in report.chapters
        ]  # fmt: skip
    left_out = report.left_out + len(report.findings[most:])
    return result | ({"leftOut": left_out} if left_out else {})


def _finding(finding: Finding) -> Json:
    answer: Json = {
        "kind": finding.kind,
        "statement": finding.statement,
        "count": finding.times,
        "evidence": [source._asdict() for source in finding.evidence],
    }
    if finding.priority is not None:
        answer["priority"] = finding.priority.value
    return answer | ({"about": finding.about} if finding.about else {})


def _series(series: Series, most: int) -> Json:
    points = [point._asdict() for point in series.points[-most:]]
    answer: Json = {
        "metric": series.name,
        "direction": series.direction,
        "change": series.change,
        "periods": points,
    }
    earlier = len(series.points) - len(points)
    return answer | ({"earlierPeriods": earlier} if earlier else {})
