package io.softdpu.samples;

import io.softdpu.core.Side;
import io.softdpu.core.memory.Permissions;
import io.softdpu.rdma.RdmaTaskType;
import java.io.PrintStream;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * RDMA sample: one side of an operation between two peers. {@link RdmaProgram} has what all of them
 * do; a sample configures its tasks and says what is done once it is connected.
 */
abstract class RdmaSample implements Sample {
    /** The side whose first device it takes, unless the user names a device. */
    abstract Side side();

    /** The types of its tasks; none for a sample that submits no task. */
    abstract List<RdmaTaskType> tasks();

    /** Name of the sample on the other side. */
    abstract String peer();

    /** The permissions of its memory. */
    Permissions memoryPermissions() {
        return Permissions.LOCAL_READ_WRITE;
    }

    /**
     * The option with the file of the exported memory or sync event; null: none is exported or
     * used.
     */
    @Nullable SampleOption sharedDescriptor() {
        return null;
    }

    /** Sets the tasks with their callbacks, and fills the memory; the context is IDLE. */
    abstract void configure(RdmaProgram program);

    /** The context is RUNNING; called by its callback for changes of state. */
    abstract void running(RdmaProgram program);

    /** The peer has disconnected in good order; by default there is nothing more to do then. */
    void disconnected(RdmaProgram program) {
        program.endWithPeer();
    }

    /** The options for connection descriptors of an example call. */
    abstract String exampleDescriptors();

    /** One by descriptors, and one by address, that of the first port of the built-in card. */
    @Override
    public final List<String> exampleArguments() {
        SampleOption shared = sharedDescriptor();
        String file = "";
        if (shared != null) {
            file = RdmaSampleSettings.isOfEvent(shared) ? " -m /tmp/event" : " -m /tmp/mmap";
        }
        String address =
                options().contains(RdmaSampleSettings.ADDRESS) ? " --address 127.3.0.1" : "";
        return List.of(exampleDescriptors() + file, "--use-rdma-cm" + address + file);
    }

    @Override
    public final void run(SampleSettings settings, PrintStream out) {
        RdmaProgram.run(this, settings, out);
    }
}
