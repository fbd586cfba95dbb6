"""Tell a dump of what a platform knows of a job from a configuration.

`kubectl get pod -o yaml` and `aws sagemaker describe-training-job` are kept beside the logs in the
formats that configurations have. How something ended stands in no configuration.
"""

import re
from pathlib import Path

SUFFIXES = (".json", ".yaml", ".yml")
# A list of pods tells their specification first.
_BYTES = 1 << 18
_TOLD_OF_AN_END = re.compile(
    rb"""(?x)["']?\b(?:
        containerStatuses | lastState | lastTransitionTime | finishedAt | exit_?[cC]ode | ExitCode
      | [cC]ompletionTime | [eE]ndTime | end_time | stop_?[tT]ime | TrainingEndTime
      | TrainingJobStatus | SecondaryStatus | StatusMessage | [fF]ailureReason | FailureMessage
      | [jJ]ob_?[sS]tate | state_reason | stateReason | statusReason | StatusReason
      | exit_status | Exit_status | terminationReason | termination_reason | ClientStatus
    )["']?\s*[:=]\s*["'{\[\w-]"""
)


def is_status_dump(path: Path) -> bool:
    """Say whether a file of JSON or YAML tells how something ended."""
    try:
        with open(path, "rb") as file:
            return _TOLD_OF_AN_END.search(file.read(_BYTES)) is not None
    except OSError:
        return False
