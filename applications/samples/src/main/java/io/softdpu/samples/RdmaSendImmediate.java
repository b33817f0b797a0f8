package io.softdpu.samples;

import io.softdpu.core.Side;
import io.softdpu.core.memory.Buf;
import io.softdpu.rdma.RdmaSendImmediateTask;
import io.softdpu.rdma.RdmaTaskType;
import java.util.List;

/**
 * RDMA send with immediate, the side that sends: sends a text as one message with a 32-bit value.
 * No memory is exported: the receiver chooses where the message goes.
 */
final class RdmaSendImmediate extends RdmaSample {
    @Override
    public String name() {
        return "rdma-send-immediate";
    }

    @Override
    public String summary() {
        return "Sends a text and a value to rdma-receive-immediate.";
    }

    @Override
    public String output() {
        return "The files to copy, the states of the context, and the text, which is printed when"
                + " it is submitted.";
    }

    @Override
    public String source() {
        return "running() prepares, prints and submits the send; success means that the peer has"
                + " the message.";
    }

    @Override
    public List<SampleOption> options() {
        return RdmaSampleSettings.connecting(RdmaSampleSettings.SEND_STRING);
    }

    @Override
    String exampleDescriptors() {
        return "-ld /tmp/sender -re /tmp/receiver";
    }

    @Override
    Side side() {
        return Side.HOST;
    }

    @Override
    List<RdmaTaskType> tasks() {
        return List.of(RdmaTaskType.SEND_IMMEDIATE);
    }

    @Override
    String peer() {
        return "rdma-receive-immediate";
    }

    @Override
    void configure(RdmaProgram program) {
        program.rdma()
                .setSendImmediateTasks(
                        RdmaProgram.TASKS,
                        task -> RdmaProgram.of(task).succeeded(task, () -> {}, task.source()),
                        task -> RdmaProgram.of(task).failed(task, task.source()));
        program.text(RdmaSampleSettings.SEND_STRING).fill(program.memory());
    }

    @Override
    void running(RdmaProgram program) {
        RdmaText text = program.text(RdmaSampleSettings.SEND_STRING);
        Buf source = program.inventory().bufByData(program.mmap(), 0, text.transferBytes());
        RdmaSendImmediateTask task =
                program.rdma()
                        .allocateSendImmediate(program.connection(), source, RdmaText.IMMEDIATE);
        program.print(text.line("sending", task.immediate()));
        program.submit(task, source);
    }
}
