package io.softdpu.topology.json;

import io.softdpu.core.DpuException;

/** A program that prints which topology its environment names, or the status of why not. */
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
