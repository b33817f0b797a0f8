package io.softdpu.fuzz;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.rdma.roce.capture.Analysis;
import io.softdpu.rdma.roce.capture.Flow;
import io.softdpu.testkit.StartsProcesses;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.Arrays;

/** Captures: read to their end, or refused, and the same again. */
@StartsProcesses
class CaptureFuzzTest {

    @FuzzTest
    void bytes(byte[] file) throws IOException {
        String once = read(file);
        String again = read(file);
        if (!once.equals(again)) {
            throw new AssertionError("read as another: once=" + once + ", again=" + again);
        }
    }

    private static String read(byte[] file) throws IOException {
        StringBuilder seen = new StringBuilder();
        try {
            Analysis capture = new Analysis(new ByteArrayInputStream(file));
            while (capture.next()) {
                seen.append(capture.number()).append(capture.fault()).append(capture.note());
            }
            long counted = capture.badIcrc() + capture.malformed();
            for (Flow flow : capture.flows()) {
                counted += flow.packets();
            }
            if (counted > capture.packets()) {
                throw new AssertionError("counted twice: counted=" + counted);
            }
        } catch (DpuException e) {
            boolean documented =
                    Arrays.asList(Status.INVALID_VALUE, Status.NOT_SUPPORTED).contains(e.status());
            if (!documented || !String.valueOf(e.getMessage()).contains("expected")) {
                throw new AssertionError("refused in another way: " + e.getMessage(), e);
            }
            seen.append(e.getMessage());
        }
        return seen.toString();
    }
}
