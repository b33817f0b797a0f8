package io.softdpu.topology.json;

import io.softdpu.core.DpuException;

/** Program that prints the topology that its environment names, or the status of a failure. */
public final class EnvironmentProcess {
    private EnvironmentProcess() {}

    public static void main(String[] arguments) {
        try {
            System.out.println("topology " + TopologyJson.fromEnvironment().name());
        } catch (DpuException e) {
            System.out.println("refused " + e.status() + " " + e.getMessage());
        }
    }
}
