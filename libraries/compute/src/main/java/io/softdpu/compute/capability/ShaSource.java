package io.softdpu.compute.capability;

import io.softdpu.compute.ShaAlgorithm;
import io.softdpu.compute.ShaCapabilities;
import io.softdpu.core.capability.Capability;
import io.softdpu.core.capability.CapabilitySource;
import io.softdpu.core.device.DeviceInfo;
import io.softdpu.core.device.DeviceLimit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Source of the capabilities of SHA: contexts, tasks and limits. */
public final class ShaSource implements CapabilitySource {
    /** For ServiceLoader. */
    public ShaSource() {}

    @Override
    public String library() {
        return "sha";
    }

    @Override
    public List<DeviceLimit> limits() {
        return List.of(
                ShaCapabilities.TASKS_LIMIT,
                ShaCapabilities.SOURCE_BUFFER_SIZE_LIMIT,
                ShaCapabilities.BUFFER_LIST_LENGTH_LIMIT);
    }

    @Override
    public List<Capability> capabilities(DeviceInfo device) {
        ShaCapabilities sha = ShaCapabilities.of(device);
        List<Capability> all = new ArrayList<>();
        for (ShaAlgorithm algorithm : ShaAlgorithm.values()) {
            String name = nameOf(algorithm);
            all.add(Capability.support("task_hash_" + name, sha.isHashSupported(algorithm)));
            all.add(
                    Capability.support(
                            "task_partial_hash_" + name, sha.isPartialHashSupported(algorithm)));
        }
        all.add(Capability.support("hardware", sha.isHardwareSupported()));
        all.add(Capability.limit(ShaCapabilities.TASKS_LIMIT, sha.maxTasks()));
        all.add(
                Capability.limit(
                        ShaCapabilities.SOURCE_BUFFER_SIZE_LIMIT, sha.maxSourceBufferBytes()));
        all.add(
                Capability.limit(
                        ShaCapabilities.BUFFER_LIST_LENGTH_LIMIT, sha.maxBufferListLength()));
        for (ShaAlgorithm algorithm : ShaAlgorithm.values()) {
            String name = nameOf(algorithm);
            all.add(
                    Capability.limit(
                            "min_destination_buffer_size_" + name,
                            Capability.Unit.BYTES,
                            sha.minDestinationBufferBytes(algorithm)));
            all.add(
                    Capability.limit(
                            "partial_hash_block_size_" + name,
                            Capability.Unit.BYTES,
                            sha.partialHashBlockBytes(algorithm)));
        }
        return List.copyOf(all);
    }

    private static String nameOf(ShaAlgorithm algorithm) {
        return algorithm.name().toLowerCase(Locale.ROOT);
    }
}
