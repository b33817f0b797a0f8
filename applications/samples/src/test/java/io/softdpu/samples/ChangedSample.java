package io.softdpu.samples;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.memory.Permissions;
import io.softdpu.rdma.RdmaTaskType;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** RDMA sample that does what another one does, except for the steps that a test changes. */
class ChangedSample extends RdmaSample {
    private final RdmaSample sample;

    /** The sample with this name, unchanged. */
    ChangedSample(String name) {
        sample = (RdmaSample) SampleProgram.find(name);
    }

    @Override
    public String name() {
        return sample.name();
    }

    @Override
    public String summary() {
        return sample.summary();
    }

    @Override
    public String output() {
        return sample.output();
    }

    @Override
    public String source() {
        return sample.source();
    }

    @Override
    public List<SampleOption> options() {
        return sample.options();
    }

    @Override
    String exampleDescriptors() {
        return sample.exampleDescriptors();
    }

    @Override
    Side side() {
        return sample.side();
    }

    @Override
    List<RdmaTaskType> tasks() {
        return sample.tasks();
    }

    @Override
    String peer() {
        return sample.peer();
    }

    @Override
    Permissions memoryPermissions() {
        return sample.memoryPermissions();
    }

    @Override
    @Nullable SampleOption sharedDescriptor() {
        return sample.sharedDescriptor();
    }

    @Override
    void configure(RdmaProgram program) {
        sample.configure(program);
    }

    @Override
    void running(RdmaProgram program) {
        sample.running(program);
    }

    /**
     * Does the step for RUNNING.
     *
     * @return number of things that its device has then and had not before: an import of memory or
     *     of an event is one
     */
    final int openedWhenItRuns(RdmaProgram program) {
        Device device = program.mmap().devices().getFirst();
        int before = users(device);
        sample.running(program);
        return users(device) - before;
    }

    /** A device that is in use refuses to be closed, and says how many things use it. */
    private static int users(Device device) {
        try {
            device.close();
        } catch (DpuException e) {
            if (e.status() == Status.IN_USE) {
                return Integer.parseInt(e.toString().replaceFirst(".* users=([0-9]+),.*", "$1"));
            }
            throw e;
        }
        throw new AssertionError("device of a sample that runs was closed: device=" + device);
    }

    @Override
    void disconnected(RdmaProgram program) {
        sample.disconnected(program);
    }
}
