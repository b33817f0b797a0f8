package io.softdpu.samples;

import io.softdpu.core.Side;
import io.softdpu.core.memory.Buf;
import io.softdpu.rdma.RdmaOpcode;
import io.softdpu.rdma.RdmaReceiveTask;
import io.softdpu.rdma.RdmaTaskType;
import java.util.List;

/**
 * RDMA receive with immediate, the side that receives: submits a receive task with a buf for the
 * message of the sender, which comes with a 32-bit value. No memory is exported: the message goes
 * into the task's buf.
 */
final class RdmaReceiveImmediate extends RdmaSample {
    @Override
    public String name() {
        return "rdma-receive-immediate";
    }

    @Override
    public String summary() {
        return "Receives the text and the value of rdma-send-immediate.";
    }

    @Override
    public String output() {
        return "The files to copy, the states of the context, and the text with the value that was"
                + " received.";
    }

    @Override
    public String source() {
        return "running() submits the receive for the sender's message; hasReceived() verifies and"
                + " frees.";
    }

    @Override
    public List<SampleOption> options() {
        return RdmaSampleSettings.listening();
    }

    @Override
    String exampleDescriptors() {
        return "-ld /tmp/receiver -re /tmp/sender";
    }

    @Override
    Side side() {
        return Side.DPU;
    }

    @Override
    List<RdmaTaskType> tasks() {
        return List.of(RdmaTaskType.RECEIVE);
    }

    @Override
    String peer() {
        return "rdma-send-immediate";
    }

    @Override
    void configure(RdmaProgram program) {
        program.rdma()
                .setReceiveTasks(
                        RdmaProgram.TASKS,
                        task -> hasReceived(RdmaProgram.of(task), task),
                        task -> RdmaProgram.of(task).failed(task, task.destination()));
    }

    @Override
    void running(RdmaProgram program) {
        Buf destination =
                program.inventory().bufByAddress(program.mmap(), 0, RdmaText.MEMORY_BYTES);
        program.submit(program.rdma().allocateReceive(destination), destination);
        program.print("waiting for the message of " + peer());
    }

    private static void hasReceived(RdmaProgram program, RdmaReceiveTask task) {
        program.succeeded(
                task,
                () -> {
                    RdmaText.verifyOpcode(task.resultOpcode(), RdmaOpcode.SEND_IMMEDIATE);
                    RdmaText.verifyImmediate(task.resultImmediate());
                    program.print(
                            RdmaText.verified(program.memory(), task.resultLength())
                                    .line("received", task.resultImmediate()));
                },
                task.destination());
    }
}
