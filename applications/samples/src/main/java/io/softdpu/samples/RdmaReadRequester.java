package io.softdpu.samples;

import io.softdpu.core.Side;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.rdma.RdmaReadTask;
import io.softdpu.rdma.RdmaTaskType;
import java.util.List;

/**
 * RDMA read, the side that reads: makes an mmap from the responder's descriptor, reads the text
 * there, and prints it. The responder's program takes no part in the read.
 */
final class RdmaReadRequester extends RdmaSample {
    @Override
    public String name() {
        return "rdma-read-requester";
    }

    @Override
    public String summary() {
        return "Reads a text from the memory of rdma-read-responder.";
    }

    @Override
    public String output() {
        return "The files to copy, the states of the context, and the text, which the responder did"
                + " not send.";
    }

    @Override
    public String source() {
        return "running() allocates and submits the read once the context runs; hasRead() verifies"
                + " and frees.";
    }

    @Override
    public List<SampleOption> options() {
        return RdmaSampleSettings.connecting(RdmaSampleSettings.PEER_MMAP);
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
        return List.of(RdmaTaskType.READ);
    }

    @Override
    String peer() {
        return "rdma-read-responder";
    }

    @Override
    SampleOption sharedDescriptor() {
        return RdmaSampleSettings.PEER_MMAP;
    }

    @Override
    void configure(RdmaProgram program) {
        program.rdma()
                .setReadTasks(
                        RdmaProgram.TASKS,
                        task -> hasRead(RdmaProgram.of(task), task),
                        task ->
                                RdmaProgram.of(task)
                                        .failed(task, task.source(), task.destination()));
    }

    @Override
    void running(RdmaProgram program) {
        Mmap remote = program.importMemory();
        Buf source = program.inventory().bufByData(remote, 0, RdmaText.MEMORY_BYTES);
        Buf destination =
                program.inventory().bufByAddress(program.mmap(), 0, RdmaText.MEMORY_BYTES);
        RdmaReadTask task = program.rdma().allocateRead(program.connection(), source, destination);
        program.submit(task, source, destination);
    }

    private static void hasRead(RdmaProgram program, RdmaReadTask task) {
        program.succeeded(
                task,
                () -> program.print(RdmaText.verified(program.memory()).line("read")),
                task.source(),
                task.destination());
    }
}
