package io.softdpu.samples;

import io.softdpu.core.Side;
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

    @Override
    void disconnected(RdmaProgram program) {
        sample.disconnected(program);
    }
}
