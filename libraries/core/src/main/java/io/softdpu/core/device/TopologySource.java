package io.softdpu.core.device;

import io.softdpu.core.DpuException;

/**
 * Source of the topology that {@code SOFTDPU_TOPOLOGY} names; a service, found by ServiceLoader.
 * The artefact {@code softdpu-topology-json} provides one.
 *
 * <p>Any thread may call it.
 */
@FunctionalInterface
public interface TopologySource {
    /**
     * Loads a topology.
     *
     * @param fileOrName the value of the variable, not empty
     * @throws DpuException as {@link Topology#fromEnvironment()}; the message names the variable or
     *     the file
     */
    Topology load(String fileOrName);
}
