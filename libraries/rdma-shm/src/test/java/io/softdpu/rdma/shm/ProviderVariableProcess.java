package io.softdpu.rdma.shm;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.rdma.Rdma;

/** Program that starts an RDMA instance and prints its state, or the status of a failure. */
public final class ProviderVariableProcess {
    private ProviderVariableProcess() {}

    /**
     * Main method.
     *
     * @param arguments the provider that the program sets; none to set none
     */
    public static void main(String[] arguments) {
        try (Machine machine = Machine.open(Side.DPU);
                Device device = machine.findDevice("p0").open();
                ProgressEngine engine = ProgressEngine.create();
                Rdma rdma = Rdma.create(device)) {
            if (arguments.length > 0) {
                rdma.setProvider(arguments[0]);
            }
            rdma.setConnectionCallback((connection, previous, next) -> {});
            engine.connect(rdma);
            rdma.start();
            System.out.println("state " + rdma.state());
        } catch (DpuException e) {
            System.out.println("refused " + e.status() + " " + e.getMessage());
        }
    }
}
