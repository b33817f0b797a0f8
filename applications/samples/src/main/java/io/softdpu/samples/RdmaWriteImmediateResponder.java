package io.softdpu.samples;

import io.softdpu.core.Side;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Permissions;
import io.softdpu.rdma.RdmaOpcode;
import io.softdpu.rdma.RdmaReceiveTask;
import io.softdpu.rdma.RdmaTaskType;
import java.util.List;

/**
 * RDMA write with immediate, the side that is written to: exports memory with the right to write,
 * and submits a receive task, which completes when the requester has written. The task needs no
 * buf: the data is in the memory that was written.
 */
final class RdmaWriteImmediateResponder extends RdmaSample {
    @Override
    public String name() {
        return "rdma-write-immediate-responder";
    }

    @Override
    public String summary() {
        return "Is told by rdma-write-immediate-requester that its memory was written.";
    }

    @Override
    public String output() {
        return "The files to copy, the states of the context, and the text with the value that came"
                + " after it.";
    }

    @Override
    public String source() {
        return "running() submits the receive; hasReceived() checks opcode, value and memory.";
    }

    @Override
    public List<SampleOption> options() {
        return RdmaSampleSettings.listening(RdmaSampleSettings.EXPORTED_MMAP);
    }

    @Override
    String exampleDescriptors() {
        return "-ld /tmp/responder -re /tmp/requester";
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
        return "rdma-write-immediate-requester";
    }

    @Override
    Permissions memoryPermissions() {
        return Permissions.of(AccessFlag.LOCAL_READ_WRITE, AccessFlag.RDMA_WRITE);
    }

    @Override
    SampleOption sharedDescriptor() {
        return RdmaSampleSettings.EXPORTED_MMAP;
    }

    @Override
    void configure(RdmaProgram program) {
        program.rdma()
                .setPermissions(Permissions.of(AccessFlag.RDMA_WRITE))
                .setReceiveTasks(
                        RdmaProgram.TASKS,
                        task -> hasReceived(RdmaProgram.of(task), task),
                        task -> RdmaProgram.of(task).failed(task));
    }

    @Override
    void running(RdmaProgram program) {
        program.submit(program.rdma().allocateReceive(null));
        program.print("waiting for the write of " + peer());
    }

    private static void hasReceived(RdmaProgram program, RdmaReceiveTask task) {
        program.succeeded(
                task,
                () -> {
                    RdmaText.verifyOpcode(task.resultOpcode(), RdmaOpcode.WRITE_IMMEDIATE);
                    RdmaText.verifyImmediate(task.resultImmediate());
                    program.print(
                            RdmaText.verified(program.memory(), task.resultLength())
                                    .line("written by the peer", task.resultImmediate()));
                });
    }
}
