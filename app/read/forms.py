"""The forms that the parts of a prefix take, each with what it looks like in a log."""

import re

# [rank3]:   [rank: 3]   [Rank 3]   [RANK:3]
RANK = re.compile(r"\[([rR]ank|RANK)[ :=_-]{0,2}(\d{1,6})\](:?)")
# h41n09 rank 33: Traceback
SPOKEN_RANK = re.compile(r"[rR]ank (\d{1,6}): ?")
# [1,3]<stderr>:   [3]<stdout>:   [15]worker-23:83:2526 [0] NCCL WARN
NUMBERED = re.compile(r"\[(?:\d{1,5},)?(\d{1,6})\](<std(?:out|err)>:)?")
# [1,mpirank:17,algo-3]<stderr>:   as SageMaker writes it
MPI_RANK = re.compile(r"\[\d{1,5},mpirank:(\d{1,6}),([\w.-]{1,63})\]<std(?:out|err)>: ?")
# [trainer-0]   [default3]:   [PE 7] [17:05:33.211]   [titan] 2026-05-19   [pod/trainer-0/pytorch]
TAG = re.compile(r"\[([A-Za-z][\w./-]{0,60}(?: \d{1,5})?)\](:?)")
LOCAL = re.compile(r"([A-Za-z_]{1,40}) ?(\d{1,5})$")
# [c-0-3:21544] *** Process received signal ***   as Open MPI labels its lines
# [c-0-3:21544:0:21544] Caught signal 11   [c-0-3:3311 :0:3311]   as UCX does
HOST_PID = re.compile(
    r"\[([A-Za-z][\w-]{0,62}(?:\.[\w-]*[A-Za-z]){0,4}):\d{3,8}( {0,5}:\d{1,3}:\d{1,8})?\]"
    r"(?::(?= )| )"
)
# [gx14:13]: [rank13]: Traceback   as Hydra labels lines where it is asked for host and rank
HOST_RANK = re.compile(r"\[([A-Za-z][\w-]{0,62}):\d{1,6}\]: (?=\[rank\d)")
# (node-1) [rank14]: Traceback
IN_ROUND = re.compile(r"\(([A-Za-z][\w.-]{0,62})\) ")
# (TaskRunner pid=41877)   (RayTrainWorker pid=123, ip=10.0.0.4)   (raylet, ip=10.0.0.4)
ACTOR = re.compile(
    r"\(((?:[^()]{0,80}(?:\([^()]{0,60}\))? ?\bpid=\d{1,8}"
    r"|(?:raylet|gcs_server|autoscaler)(?: \+\w{1,12})?)(?:, ip=([\w.:-]{1,60}))?)\) ?"
)
# <error> [2024-01-30 19:41:52] Trial 7 exited
ANGLE = re.compile(r"<(?:debug|info|warning|error|critical)> (?=\[\d)")
# node-7:811:903 [3] NCCL WARN
PROCESS = re.compile(r"([A-Za-z][\w.-]{0,62}):(\d{1,8}):\d{1,8} \[\d{1,3}\] ")
# trainer-1  | step 10
COLUMN = re.compile(r" {1,20}\| ")
# pod/trainer-0 step 10, but not "pod/trainer-0 created": there kubectl speaks
POD = re.compile(
    r"pod/([a-z0-9][a-z0-9.-]{0,62}) "
    r"(?!(?:created|deleted|configured|unchanged|evicted|patched|labeled|condition)\b)"
)
# 10.0.0.4: [rank3]: Traceback
ADDRESS = re.compile(r"(\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}): ?")
#  3: loading shard   12: loading shard
TASK = re.compile(r" {0,4}(\d{1,5}):(?: |$)")
PADDED = re.compile(r" (?: {0,3}\d{1,5}: |\[\d{4}-)")
# " 4b | 05/11/2026 | 08:12:44 | Power Unit #0x01 | …": ipmitool's list of a controller's log
SEL = re.compile(r" {1,3}[0-9a-f]{1,3} \| (?=\d\d/\d\d/\d{4} \| \d\d:)")
TIME_OF_DAY = re.compile(r"\d\d:\d\d:\d\d[. ]")
# node-17 kernel:   node-17 python3[412]:   gpu7 systemd:
SYSLOG_HOST = re.compile(r"([A-Za-z0-9][\w.-]{0,62}) (?=kernel: |[\w./@-]{1,60}\[\d{1,8}\]: )")
SYSLOG_NODE = re.compile(r"([A-Za-z][A-Za-z.-]{0,50}\d[\w.-]{0,40}) (?=[a-z][\w./@-]{0,60}: )")
# [compute-4:682405:0]   behind the time of a UCX line
UCX_HOST = re.compile(r"\[([A-Za-z][\w.-]{0,62}):\d{1,8}:\d{1,8}\]")
