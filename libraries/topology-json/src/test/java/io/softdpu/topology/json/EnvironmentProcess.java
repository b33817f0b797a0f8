package io.softdpu.topology.json;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.device.Machine;

/**
 * Program that opens a machine and prints its topology, or the status of a failure; it calls
 * nothing of this module.
 */
public final class EnvironmentProcess {
    private EnvironmentProcess() {}

    public static void main(String[] arguments) {
        try (Machine machine = Machine.open(Side.DPU)) {
            System.out.println("topology " + machine.topology().name());
        } catch (DpuException e) {
            System.out.println("refused " + e.status() + " " + e.getMessage());
        }
    }
}
