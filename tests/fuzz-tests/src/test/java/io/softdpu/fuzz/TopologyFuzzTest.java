package io.softdpu.fuzz;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.Topology;
import io.softdpu.testkit.StartsProcesses;
import io.softdpu.topology.json.TopologyJson;
import java.nio.charset.StandardCharsets;

/** Topology files, and plugged-in functions in the file of another process. */
@StartsProcesses
class TopologyFuzzTest {

    @FuzzTest
    void bytes(byte[] note) {
        String text = new String(note, StandardCharsets.UTF_8);
        Topology topology = Refused.orValue(() -> Topology.parse("fuzz", text));
        if (topology != null
                && !Topology.parse("again", topology.canonicalText()).equals(topology)) {
            throw new AssertionError("another topology after writing: " + topology.canonicalText());
        }
    }

    @FuzzTest
    void json(byte[] file) {
        Topology topology;
        try {
            topology = TopologyJson.parse("fuzz", new String(file, StandardCharsets.UTF_8));
        } catch (DpuException e) {
            if (e.status() != Status.BAD_CONFIG
                    || !String.valueOf(e.getMessage()).contains("file=fuzz, line=")) {
                throw new AssertionError("refused in another way: " + e, e);
            }
            return;
        }
        String json = TopologyJson.toJson(topology);
        if (!TopologyJson.parse("again", json).equals(topology)) {
            throw new AssertionError("another topology after writing: " + json);
        }
    }
}
