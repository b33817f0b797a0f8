package io.softdpu.rdma;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.text.ForeignText;
import io.softdpu.linux.text.Text;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * Properties that an instance has by the environment until its program sets them. Stateless; any
 * thread.
 */
final class RdmaVariables {
    private static final String GID_INDEX = "SOFTDPU_RDMA_GID_INDEX";
    private static final String PATH_MTU = "SOFTDPU_RDMA_PATH_MTU";

    private RdmaVariables() {}

    /**
     * The index of the GID, 0 without the variable.
     *
     * @param count of the addresses of the device
     * @throws DpuException INVALID_VALUE, naming the variable
     */
    static int gidIndex(Map<String, String> environment, int count) {
        return number(environment, GID_INDEX, 0, IntStream.range(0, count).boxed().toList());
    }

    /**
     * The path MTU in bytes; without the variable the default one, within the limits of the device.
     *
     * @param lowest of the device, a power of two
     * @param highest of the device
     * @throws DpuException INVALID_VALUE, naming the variable
     */
    static int pathMtuBytes(Map<String, String> environment, int lowest, int highest) {
        return number(
                environment,
                PATH_MTU,
                Math.clamp(Rdma.DEFAULT_PATH_MTU_BYTES, lowest, highest),
                IntStream.rangeClosed(lowest, highest)
                        .filter(bytes -> Integer.bitCount(bytes) == 1)
                        .boxed()
                        .toList());
    }

    private static int number(
            Map<String, String> environment, String variable, int without, List<Integer> legal) {
        String text = environment.getOrDefault(variable, "");
        if (text.isEmpty()) {
            return without;
        }
        for (int each : legal) {
            if (text.equals(Integer.toString(each))) {
                return each;
            }
        }
        throw new DpuException(
                Status.INVALID_VALUE,
                Text.format(
                        "property of RDMA instances is illegal: variable=%s, value=%s,"
                                + " expected=one of %s",
                        variable, ForeignText.escapeAndCut(text), legal));
    }
}
