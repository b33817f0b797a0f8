package io.softdpu.samples;

import io.softdpu.core.Side;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.rdma.RdmaTaskType;
import io.softdpu.rdma.RdmaWriteTask;
import java.util.List;

/**
 * RDMA write, the side that writes: makes an mmap from the responder's descriptor, and writes a
 * text there. The responder's program takes no part in the write, and is not told of it.
 */
final class RdmaWriteRequester extends RdmaSample {
    @Override
    public String name() {
        return "rdma-write-requester";
    }

    @Override
    public String summary() {
        return "Writes a text into the memory of rdma-write-responder.";
    }

    @Override
    public String output() {
        return "The files to copy, the states of the context, and the text once it has been"
                + " written.";
    }

    @Override
    public String source() {
        return "running() allocates and submits the write once the context runs; hasWritten()"
                + " prints and frees.";
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
        return List.of(RdmaTaskType.WRITE);
    }

    @Override
    String peer() {
        return "rdma-write-responder";
    }

    @Override
    SampleOption sharedDescriptor() {
        return RdmaSampleSettings.PEER_MMAP;
    }

    @Override
    void configure(RdmaProgram program) {
        program.rdma()
                .setWriteTasks(
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
        RdmaWriteTask task =
                program.rdma().allocateWrite(program.connection(), source, destination);
        program.submit(task, source, destination);
    }

    private static void hasWritten(RdmaProgram program, RdmaWriteTask task) {
        program.succeeded(
                task,
                () -> program.print(RdmaText.verified(program.memory()).line("written")),
                task.source(),
                task.destination());
    }
}
