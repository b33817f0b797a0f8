package io.softdpu.samples;

import io.softdpu.core.Side;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.rdma.RdmaTaskType;
import io.softdpu.rdma.RdmaWriteImmediateTask;
import java.util.List;

/**
 * RDMA write with immediate, the side that writes: writes a text into the responder's memory, and
 * completes a receive task of the responder by a 32-bit value.
 */
final class RdmaWriteImmediateRequester extends RdmaSample {
    @Override
    public String name() {
        return "rdma-write-immediate-requester";
    }

    @Override
    public String summary() {
        return "Writes a text and tells rdma-write-immediate-responder by a value.";
    }

    @Override
    public String output() {
        return "The files to copy, the states of the context, and text and value once it has been"
                + " written.";
    }

    @Override
    public String source() {
        return "running() allocates and submits the write with the value; hasWritten() prints and"
                + " frees.";
    }

    @Override
    public List<SampleOption> options() {
        return RdmaSampleSettings.connecting(
                RdmaSampleSettings.PEER_MMAP, RdmaSampleSettings.WRITE_STRING);
    }

    @Override
    String exampleDescriptors() {
        return "-ld /tmp/requester -re /tmp/responder";
    }

    @Override
    Side side() {
        return Side.HOST;
    }

    @Override
    List<RdmaTaskType> tasks() {
        return List.of(RdmaTaskType.WRITE_IMMEDIATE);
    }

    @Override
    String peer() {
        return "rdma-write-immediate-responder";
    }

    @Override
    SampleOption sharedDescriptor() {
        return RdmaSampleSettings.PEER_MMAP;
    }

    @Override
    void configure(RdmaProgram program) {
        program.rdma()
                .setWriteImmediateTasks(
                        RdmaProgram.TASKS,
                        task -> hasWritten(RdmaProgram.of(task), task),
                        task ->
                                RdmaProgram.of(task)
                                        .failed(task, task.source(), task.destination()));
        program.text(RdmaSampleSettings.WRITE_STRING).fill(program.memory());
    }

    @Override
    void running(RdmaProgram program) {
        Mmap remote = program.importMemory();
        int bytes = program.text(RdmaSampleSettings.WRITE_STRING).transferBytes();
        Buf source = program.inventory().bufByData(program.mmap(), 0, bytes);
        Buf destination = program.inventory().bufByAddress(remote, 0, bytes);
        RdmaWriteImmediateTask task =
                program.rdma()
                        .allocateWriteImmediate(
                                program.connection(), source, destination, RdmaText.IMMEDIATE);
        program.submit(task, source, destination);
    }

    private static void hasWritten(RdmaProgram program, RdmaWriteImmediateTask task) {
        program.succeeded(
                task,
                () ->
                        program.print(
                                RdmaText.verified(program.memory())
                                        .line("written", task.immediate())),
                task.source(),
                task.destination());
    }
}
