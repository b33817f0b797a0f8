package io.softdpu.samples;

import io.softdpu.core.Side;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Permissions;
import io.softdpu.rdma.RdmaTaskType;
import java.util.List;

/**
 * RDMA write, the side that is written to: exports memory with the right to write, waits until the
 * user says that the requester is done, and prints what is there. It submits no task, and nothing
 * tells it of a write. Without a user, as with /dev/null for its input, it waits until the
 * requester has disconnected.
 */
final class RdmaWriteResponder extends RdmaSample {
    @Override
    public String name() {
        return "rdma-write-responder";
    }

    @Override
    public String summary() {
        return "Exports memory for rdma-write-requester, and prints what that has written.";
    }

    @Override
    public String output() {
        return "The files to copy, the states of the context, and after Enter the text, which no"
                + " message told.";
    }

    @Override
    public String source() {
        return "Both memoryPermissions() and configure() grant the right to write; running() waits"
                + " for the user.";
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
        return List.of();
    }

    @Override
    String peer() {
        return "rdma-write-requester";
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
        program.rdma().setPermissions(Permissions.of(AccessFlag.RDMA_WRITE));
    }

    @Override
    void running(RdmaProgram program) {
        boolean hasUser = program.awaitUser(() -> printMemory(program));
        program.print(
                hasUser
                        ? "press Enter when " + peer() + " is done"
                        : "no user: waiting until " + peer() + " disconnects");
    }

    /** It may have written or not: only the user knows. */
    @Override
    void disconnected(RdmaProgram program) {
        program.endWithUser();
    }

    private static void printMemory(RdmaProgram program) {
        program.print(RdmaText.verified(program.memory()).line("written by the peer"));
        program.endWithPeer();
    }
}
