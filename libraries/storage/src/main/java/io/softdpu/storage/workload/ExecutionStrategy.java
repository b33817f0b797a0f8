package io.softdpu.storage.workload;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Execution strategies of the guide's initiator, as workloads. */
public enum ExecutionStrategy {
    /** Reads the storage repeatedly, up to the run limit. */
    READ_THROUGHPUT_TEST {
        @Override
        public Workload workload(StrategySettings settings) {
            return new Workload(
                    List.of(
                            sized(Phase.read("read throughput"), settings)
                                    .operations(settings.runLimitOperationCount())
                                    .build()));
        }
    },

    /** Writes the storage repeatedly, up to the run limit. */
    WRITE_THROUGHPUT_TEST {
        @Override
        public Workload workload(StrategySettings settings) {
            return new Workload(
                    List.of(
                            sized(Phase.write("write throughput"), settings)
                                    .operations(settings.runLimitOperationCount())
                                    .build()));
        }
    },

    /**
     * Writes the whole storage, clears the memory, reads all back and compares. Without a plain
     * content each byte is its offset modulo 256.
     */
    READ_WRITE_DATA_VALIDITY_TEST {
        @Override
        public Workload workload(StrategySettings settings) {
            Content content =
                    settings.plainContent() == null
                            ? Content.indexModulo256()
                            : Content.file(settings.plainContent());
            return new Workload(
                    List.of(
                            sized(Phase.write("write"), settings).fill(content).build(),
                            sized(Phase.read("read back"), settings)
                                    .fill(Content.zeros())
                                    .expect(content)
                                    .build()));
        }
    },

    /** Reads the whole storage and compares it with the plain content. */
    READ_ONLY_DATA_VALIDITY_TEST {
        @Override
        public Workload workload(StrategySettings settings) {
            if (settings.plainContent() == null) {
                throw new DpuException(
                        Status.INVALID_VALUE,
                        "plain content is missing: strategy="
                                + optionName()
                                + ", expected=--storage-plain-content FILE");
            }
            return new Workload(
                    List.of(
                            sized(Phase.read("read"), settings)
                                    .fill(Content.zeros())
                                    .expect(Content.file(settings.plainContent()))
                                    .build()));
        }
    };

    /** The name on the command line, for example {@code read_throughput_test}. */
    public String optionName() {
        return name().toLowerCase(Locale.ROOT);
    }

    /**
     * The strategy with this name.
     *
     * @throws DpuException INVALID_VALUE, listing the names
     */
    public static ExecutionStrategy of(String optionName) {
        for (ExecutionStrategy strategy : values()) {
            if (strategy.optionName().equals(optionName)) {
                return strategy;
            }
        }
        throw new DpuException(
                Status.INVALID_VALUE,
                "execution strategy is unknown: executionStrategy="
                        + optionName
                        + ", expected="
                        + Arrays.stream(values())
                                .map(ExecutionStrategy::optionName)
                                .collect(Collectors.joining(", ")));
    }

    /**
     * The strategy as a workload.
     *
     * @throws DpuException INVALID_VALUE, naming the missing or illegal setting
     */
    public abstract Workload workload(StrategySettings settings);

    private static Phase.Builder sized(Phase.Builder phase, StrategySettings settings) {
        return phase.ioSize(IoSize.blocks(settings.blocksPerIo()))
                .transactions(settings.transactionCount());
    }
}
