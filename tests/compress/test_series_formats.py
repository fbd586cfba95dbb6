"""One invented line for each form of metric line, and what must be read from it."""

import pytest

from tests.compress.series_reading import INF, NAN, agrees, read

# name, lines, and of the last point: series, step, total, loss, grad norm, loss scale, seconds
FORMATS = [
    (
        "Megatron-LM",
        " [2026-02-11 07:10:15.118820] iteration      340/   12000 | consumed samples:       "
        "348160 | elapsed time per iteration (ms): 6120.4 | throughput per GPU (TFLOP/s/GPU): 388.2"
        " | learning rate: 1.300000E-04 | global batch size:  1024 | lm loss: 3.412000E+00 | loss "
        "scale: 1.0 | grad norm: 0.233 | number of skipped iterations:   0 | number of nan "
        "iterations:   0 |",
        ("[### #] iteration #/#", 340, 12000, 3.412, 0.233, 1.0, 6.1204),
    ),
    (
        "Megatron-LM without stamp, seconds",
        "[default7]: iteration    81220/  95000 | elapsed time per iteration (s): 98.41 | learning "
        "rate: 4.1E-05 | lm loss: 2.011E+00 | grad norm: 0.155 | num zeros: 0.0 | number of skipped"
        " iterations:   0 | number of nan iterations:   0 |",
        ("[default#]: iteration #/#", 81220, 95000, 2.011, 0.155, None, 98.41),
    ),
    (
        "GPT-NeoX",
        " samples/sec: 3.114 | iteration       77/   40000 | elapsed time per iteration (ms): "
        "10274.8 | learning rate: 3.850E-08 | approx flops per GPU: 10.4TFLOPS | lm_loss: "
        "1.042E+01 | number of skipped iterations:   0 | number of nan iterations:   0 |",
        ("iteration #/# tflops", 77, 40000, 10.42, None, None, 10.2748),
    ),
    (
        "levanter",
        "06-01 05:02:30 - 0 - levanter.callbacks.progress - INFO - Progress on:train "
        "950.0it/4.00kit rate:0.7it/s remaining:1:12:10 elapsed:22:41 postfix:loss=3.511",
        (
            "## # - # - levanter.callbacks.progress - info - progress on:train #/# postfix",
            *(950, 4000, 3.511, None, None, 1 / 0.7),
        ),
    ),
    (
        "DeepSpeed log_dist",
        "[INFO] [logging.py:96:log_dist] [Rank 0] step=480, skipped=2, lr=[1.1e-05], "
        "mom=[[0.9, 0.95]]",
        ("[info] :log_dist] [rank #] step=#", 480, None, None, None, None, None),
    ),
    (
        "DeepSpeed script",
        "Epoch: 1, Step: 480, Rank: 0, loss = 1.874",
        ("epoch:#, step:#", 480, None, 1.874, None, None, None),
    ),
    (
        "DeepSpeed overflow",
        "[INFO] [loss_scaler.py:190:update_scale] [deepspeed] OVERFLOW! Rank 0 Skipping step. "
        "Attempted loss scale: 1024, reducing to 512",
        (
            "[info] :update_scale] [deepspeed] overflow! rank # skipping step.",
            *(None, None, None, None, 512.0, None),
        ),
    ),
    (
        "NeMo 2",
        "  0: Training epoch 0, iteration 88/9000 | lr: 1.2e-05 | global_batch_size: 96 | "
        "global_step: 88 | reduced_train_loss: 3.771 | train_step_timing in s: 44.9 | "
        "consumed_samples: 8448",
        ("#: training epoch #, iteration #/#", 88, 9000, 3.771, None, None, 44.9),
    ),
    (
        "NeMo 1 bar",
        "Epoch 0:  51%|█████     | 40021/78400 [61:10:04<58:40:19, 5.50s/it, loss=2.77, v_num=, "
        "reduced_train_loss=2.751, global_step=40020.0, consumed_samples=9.84e+07]",
        ("epoch # bar loss", 40020, 78400, 2.751, None, None, 5.5),
    ),
    (
        "InternEvo",
        "INFO pipeline.py:770 in record_current_batch_training_metrics -- tflops=188.2 step=913 "
        "loss=2.441 tgs (tokens/gpu/second)=655.1 lr=7.7e-05 loss_scale=8192.0 grad_norm="
        "{'0_default': 1.83, '1_fp32': 0.0} inf_nan_skip_batches=1 fwd_bwd_time=171.3",
        ("in record_current_batch_training_metrics step=#", 913, None, 2.441, 1.83, 8192.0, None),
    ),
    (
        "InternEvo says -2 for NaN",
        "INFO train.py:40 in record -- step=914 loss=2.44 grad_norm={'0_default': -2.0}",
        ("in record -- step=#", 914, None, 2.44, NAN, None, None),
    ),
    (
        "torchtitan",
        "step: 70  loss:  5.11872  grad_norm:  3.1250  memory: 58.02GiB(73.31%)  tps: 7,114  "
        "tflops: 402.55  mfu: 40.70%",
        ("step:#", 70, None, 5.11872, 3.125, None, None),
    ),
    (
        "torchtune bar",
        "1|204|Loss: 1.1920341: 33%|███▎      | 204/612 [08:11<16:20, 2.40s/it]",
        ("#|#|loss: # bar loss", 204, 612, 1.1920341, None, None, 2.4),
    ),
    (
        "OLMo block",
        "[step=51000/612000,epoch=0]\n    optim/total_grad_norm=0.1755\n"
        "    train/CrossEntropyLoss=2.607\n    train/Perplexity=1,356.2",
        ("[step=#/# train/crossentropyloss", 51000, 612000, 2.607, 0.1755, None, None),
    ),
    (
        "Composer block",
        "[batch=41/2600]:\n\t Train loss/train/total: 3.0214\n\t Train loss/train/ce_loss: 3.0101\n"
        "\t Train metrics/train/books_LanguageCrossEntropy: nan",
        ("[batch=#/# train loss/train/total", 41, 2600, 3.0214, None, None, None),
    ),
    (
        "Composer block with its rate",
        "[batch=44/2600]:\n\t Train time/batch: 43\n\t Train loss/train/total: 3.0107\n"
        "\t Train throughput/batches_per_sec: 0.25",
        ("[batch=#/# train loss/train/total", 44, 2600, 3.0107, None, None, 4.0),
    ),
    (
        "MaxText",
        "metric_logger.py:226] completed step: 8114, seconds: 4.102, TFLOP/s/device: 151.200, "
        "Tokens/s/device: 9102.110, total_weights: 131072, loss: 2.902, lm_loss: 2.902, "
        "perplexity: 18.211",
        ("] completed step:#", 8114, None, 2.902, None, None, 4.102),
    ),
    (
        "MaxText, old",
        "completed step: 903, seconds: 1.904, TFLOP/s: 40.110, loss: 3.815",
        ("completed step:#", 903, None, 3.815, None, None, 1.904),
    ),
    (
        "fairseq",
        "| INFO | train_inner | epoch 003:   1210 / 7740 loss=4.815, nll_loss=4.1, ppl=17.2, "
        "wps=288101.2, ups=0.5, num_updates=16690, lr=0.0004, gnorm=0.9, loss_scale=8, "
        "train_wall=200, wall=3300",
        ("info | train_inner | epoch #:#/#", 16690, None, 4.815, 0.9, 8.0, 2.0),
    ),
    (
        "fairseq overflow",
        "| INFO | fairseq.trainer | NOTE: gradient overflow detected, ignoring gradient, setting "
        "loss scale to: 16.0",
        (
            "info | fairseq.trainer | note: gradient overflow detected, ignoring gradient",
            *(None, None, None, None, 16.0, None),
        ),
    ),
    (
        "PaddleNLP",
        "[    INFO] - loss: 1.774, learning_rate: 0.00021, global_step: 640, interval_runtime: 12.4"
        ", interval_samples_per_second: 51.6, interval_steps_per_second: 0.8, "
        "progress_or_epoch: 0.11",
        ("[ info]", 640, None, 1.774, None, None, 1.25),
    ),
    (
        "PithTrain",
        "| INFO | step 00000031/00000900 | step-time 19.204 sec | cross-entropy-loss 3.8812 | "
        "load-balance-loss 0.002114 | learning-rate 2.0e-06 | gradient-norm 4.1180 | "
        "tokens-per-second 54,601",
        (
            "info | step #/# | step-time # sec cross-entropy-loss",
            *(31, 900, 3.8812, 4.118, None, 19.204),
        ),
    ),
    (
        "open_clip",
        "| INFO | Train Epoch: 2 [  204800/  819200 (25%)] Loss: 3.071 (3.40) Data (t): 0.013 "
        "Batch (t): 0.840, 312040/s, 9.52/s/gpu LR: 0.000420",
        ("info | train epoch:# [#/# (#%)]", 204800, 819200, 3.071, None, None, 0.84),
    ),
    (
        "mmengine",
        " - mmengine - INFO - Iter(train) [ 940/5000]  lr: 1.1e-04  eta: 1 day, 2:11:07  time: "
        "3.2210  data_time: 0.1772  memory: 18240  loss: 1.0718  grad_norm: 0.88",
        ("mmengine - info - iter(train) [#/#]", 940, 5000, 1.0718, 0.88, None, 3.221),
    ),
    (
        "mmdet, old",
        " - mmdet - INFO - Iter [2200/60000]\tlr: 1.9e-04, eta: 11:20:12, time: 0.700, data_time: "
        "0.020, memory: 6120, det_loss_cls_0: 0.6120, loss: 9.2211, grad_norm: 31.1000",
        ("mmdet - info - iter [#/#] , det_loss_cls_#", 2200, 60000, 9.2211, 31.1, None, 0.7),
    ),
    (
        "MAE helper",
        "Epoch: [0]  [  400/9100]  eta: 1:01:50  lr: 0.000120  closs: 1.2210 (1.4078)  time: 0.4220"
        "  data: 0.0002  max mem: 17011",
        ("epoch: [#] [#/#] closs", 400, 9100, 1.221, None, None, 0.422),
    ),
    (
        "MindYOLO",
        "[INFO] Epoch 1/300, Step 100/1848, imgsize (640, 640), loss: 6.1180, lbox: 2.2210, "
        "lcls: 2.9001, dfl: 0.9969, cur_lr: 0.0911",
        ("[info] epoch #/#, step #/#, imgsize (#, #)", 100, 1848, 6.118, None, None, None),
    ),
    (
        "MindYOLO, second line",
        "[INFO] Epoch 1/300, Step 100/1848, step time: 388.2 ms",
        ("[info] epoch #/#, step #/#", 100, 1848, None, None, None, 0.3882),
    ),
    (
        "ESPnet",
        "7epoch:train:901-1200batch: iter_time=0.002, forward_time=0.004, loss=2.118, "
        "optim_step_time=2.1e-04, lr_0=0.081, train_time=0.011",
        ("#epoch:train:##batch", None, None, 2.118, None, None, None),
    ),
    (
        "DLLogger",
        "Training Iteration: 55  average_loss : 8.71  step_loss : 8.66  learning_rate : 0.0002 ",
        ("training iteration:#", 55, None, 8.66, None, None, None),
    ),
    (
        "DLLogger loss scale",
        "PARAMETER loss_scale : 16384.0 ",
        ("parameter loss_scale", None, None, None, None, 16384.0, None),
    ),
    (
        "nanoGPT",
        "iter 4120: loss NaN, time 870.20ms, mfu 31.02%",
        ("iter #", 4120, None, NAN, None, None, 0.8702),
    ),
    (
        "nanoGPT estimate",
        "step 4000: train loss 3.1201, val loss 3.1544",
        ("step #", 4000, None, 3.1201, None, None, None),
    ),
    (
        "baby-llama2",
        "[pretrain.py][INFO] Epoch:[0/2](880/41000) loss:4.101 lr:0.0003000 epoch_Time:210.0min:",
        ("[pretrain.py][info] epoch:[#/#](#/#", 880, 41000, 4.101, None, None, None),
    ),
    (
        "llm.c",
        "step   64/900 | loss 6.120441 (+nanz)| norm 2.0110 (+nanz)| lr 2.00e-04 | 288.40 ms | "
        "51.2% bf16 MFU | 1810022 tok/s",
        ("step #/#", 64, 900, 6.120441, 2.011, None, 0.2884),
    ),
    (
        "litgpt, old",
        "iter 32 step 2: loss 9.4410, train time: 1188.02ms",
        ("iter # step #", 2, None, 9.441, None, None, 1.18802),
    ),
    (
        "litgpt",
        "Ep 1 | iter 64 | step 16: loss train (curr): 1.874, val (prev val iter): None | iter time:"
        " 201.44 ms (opt.step)",
        ("ep # | iter # | step #", 16, None, 1.874, None, None, 0.20144),
    ),
    (
        "mlx-lm",
        "Iter 30: Train loss 2.118, Learning Rate 1.000e-05, It/sec 0.5, Tokens/sec 300.118, "
        "Trained Tokens 11000, Peak mem 6.010 GB",
        ("iter #", 30, None, 2.118, None, None, 2.0),
    ),
    (
        "mlx-lm evaluation",
        "Iter 400: Val loss 2.611, Val took 11.020s",
        ("eval iter # val loss", 400, None, 2.611, None, None, None),
    ),
    (
        "tinygrad",
        "   17 5.11 s run, 10.2500 loss, 0.000000000051 LR, 1101.20 GB used, 311240.11 GFLOPS",
        ("# # s run", 17, None, 10.25, None, None, 5.11),
    ),
    (
        "TensorFlow 1",
        "INFO:tensorflow:loss = 2.7715, step = 8800 (91.400 sec)",
        ("info:tensorflow", 8800, None, 2.7715, None, None, None),
    ),
    (
        "TensorFlow 1, seconds per step",
        "INFO:tensorflow:global step 12: loss = 41.0021 (3.500 sec/step)",
        ("info:tensorflow:global step #", 12, None, 41.0021, None, None, 3.5),
    ),
    (
        "TensorFlow 1, rate",
        "INFO:tensorflow:global_step/sec: 0.8",
        ("global_step/sec", None, None, None, None, None, 1.25),
    ),
    (
        "prime-rl",
        "INFO Step 211 | Time: 41.02s | Loss: -0.0041 | Entropy: 0.4108 | Mismatch KL: 0.0029 | "
        "Grad. Norm: 0.0511 | LR: 1.00e-06 | Throughput: 38811 tokens/s",
        ("rl info step #", 211, None, -0.0041, 0.0511, None, 41.02),
    ),
    (
        "BigDL",
        "[Epoch 3 40960/1281167][Iteration 2310][Wall Clock 9201.4s] Train 1792 in 3.91seconds. "
        "Throughput is 458.3 records/second. Loss is Infinity. Current learning rate is 0.1.",
        (
            "[epoch # #/#][iteration #][wall clock #s] train # in #seconds. throughput is # "
            "records/second.",
            *(2310, None, INF, None, None, 3.91),
        ),
    ),
    (
        "Korean words",
        "[정보] 스텝 40/2500 | 손실(loss) 5.8102 | 기울기 노름(grad_norm) 0.512 | "
        "학습률(lr) 4.4e-05",
        ("[정보] step #/# | 손실", 40, 2500, 5.8102, 0.512, None, None),
    ),
    (
        "Chinese words",
        "[2026-02-03 11:02:09] 步数 420/9000  损失 3.1402  学习率 2.0e-04",
        ("[### #] step #/#", 420, 9000, 3.1402, None, None, None),
    ),
    (
        "a loss with a name of its own, among others",
        "upd=60 | moe/balance_loss=0.011 | train/lm_ce=2.7181 | tok/s=4410",
        ("upd=# train/lm_ce", 60, None, 2.7181, None, None, None),
    ),
    (
        "a step without a name, at the head",
        "<00910> ce 2.3125 | lr 2.9e-4",
        ("<# ce", 910, None, 2.3125, None, None, None),
    ),
    (
        "nothing but a perplexity",
        "batch=40 of=900 ppl=21.75 lr=0.0002",
        ("batch=# of=# ppl", 40, 900, 21.75, None, None, None),
    ),
    (
        "a step that perplexity is told at",
        "Step at 31 with Perplexity: 88.25",
        ("step at # with perplexity", 31, None, 88.25, None, None, None),
    ),
    (
        "bits that a token takes",
        "7150  bits/tok 2.625  gn   0.81",
        ("# bits/tok", 7150, None, 2.625, 0.81, None, None),
    ),
    (
        "letters for names, after a counter",
        "0417 094512 u880 L=2.125 gn=0.41 3.50s/it",
        ("# # u# u# l", None, None, 2.125, 0.41, None, 3.5),
    ),
    (
        "the epoch that is evaluated",
        "***** Evaluating accuracy, Epoch 3/4 *****",
        ("eval ***** evaluating accuracy, epoch #/#", 3, 4, None, None, None, None),
    ),
    (
        "German words",
        "Schritt 40: Verlust 5.25 (Gradientennorm 0.5)",
        ("step #", 40, None, 5.25, 0.5, None, None),
    ),
    (
        "names between bars",
        "STEP|640|LOSS|2.25|GN|0.5",
        ("step|#", 640, None, 2.25, 0.5, None, None),
    ),
    (
        "a name and its value, each by itself",
        '{"type": "metric", "name": "train/loss", "value": 2.25, "step": 90}',
        ('{"type": "metric", "name": "train/loss', 90, None, 2.25, None, None, None),
    ),
    (
        "the step behind an at sign",
        "tr_loss 2.25 @ 330",
        ("tr_loss", 330, None, 2.25, None, None, None),
    ),
    (
        "an at sign and the step before the loss",
        "loss@330: 2.25",
        ("loss@#", 330, None, 2.25, None, None, None),
    ),
    (
        "a loss for each token",
        "70: train_loss_per_token 2.25",
        ("# train_loss_per_token", 70, None, 2.25, None, None, None),
    ),
    (
        "a squared error of a batch",
        "Epoch 3 [510/9000] mse: 0.75",
        ("epoch # [#/#] mse", 510, 9000, 0.75, None, None, None),
    ),
    (
        "the number of steps beside the step",
        '{"step": 40, "max_steps": 900, "nll": 2.5}',
        ('{"step":#, "max_steps":# nll', 40, 900, 2.5, None, None, None),
    ),
]


@pytest.mark.parametrize(
    ("text", "wanted"), [pytest.param(text, wanted, id=name) for name, text, wanted in FORMATS]
)
def test_the_form_is_read(text, wanted):
    point = read(text)[-1]
    assert agrees(point, wanted), point
