package io.softdpu.samples;

import io.softdpu.core.Side;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Permissions;
import io.softdpu.rdma.RdmaTaskType;
import java.util.List;

/**
 * RDMA read, the side that is read: puts a text into memory, exports it with the right to read, and
 * waits until the requester has disconnected. It submits no task.
 */
final class RdmaReadResponder extends RdmaSample {
    @Override
    public String name() {
        return "rdma-read-responder";
    }

    @Override
    public String summary() {
        return "Exports a text for rdma-read-requester, which reads it.";
    }

    @Override
    public String output() {
        return "The files to copy, and the states of the context; nothing is printed for the read"
                + " itself.";
    }

    @Override
    public String source() {
        return "Both memoryPermissions() and configure() grant the right to read; either alone is"
                + " not enough.";
    }

    @Override
    public List<SampleOption> options() {
        return RdmaSampleSettings.listening(
                RdmaSampleSettings.EXPORTED_MMAP, RdmaSampleSettings.READ_STRING);
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
        return List.of();
    }

    @Override
    String peer() {
        return "rdma-read-requester";
    }

    @Override
    Permissions memoryPermissions() {
        return Permissions.of(AccessFlag.LOCAL_READ_WRITE, AccessFlag.RDMA_READ);
    }

    @Override
    SampleOption sharedDescriptor() {
        return RdmaSampleSettings.EXPORTED_MMAP;
    }

    @Override
    void configure(RdmaProgram program) {
        program.rdma().setPermissions(Permissions.of(AccessFlag.RDMA_READ));
        program.text(RdmaSampleSettings.READ_STRING).fill(program.memory());
    }

    @Override
    void running(RdmaProgram program) {
        program.print("waiting until " + peer() + " disconnects");
    }
}
