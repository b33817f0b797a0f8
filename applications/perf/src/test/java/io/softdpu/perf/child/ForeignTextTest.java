package io.softdpu.perf.child;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.TextNode;
import io.softdpu.testkit.HostileText;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Text in the report of a child, as its parent shows it. */
class ForeignTextTest {
    @TempDir Path folder;

    @Test
    void shouldShowTheTextsOfAChildsReportEscapedAndCut() throws IOException {
        String hostile = HostileText.of(HostileText.LONG);
        Path file = folder.resolve("report");
        new ChildReport(
                        "SUCCESS",
                        1,
                        1,
                        1,
                        1,
                        1,
                        1,
                        "HASH",
                        List.of(new ChildReport.Core("HASH", 1, 1, 1, 1, 1, 1)),
                        new ChildReport.Run(
                                1,
                                1,
                                List.of(
                                        new ChildReport.PhaseResult(
                                                "name", 1, 1, 1, 1, 1, 1, 1, 1, 1, "HASH",
                                                "HASH"))))
                .write(file);
        String json = Files.readString(file);
        assertThat(json).contains("\"HASH\"");
        Files.writeString(file, json.replace("\"HASH\"", quoted(hostile.substring(0, 1 << 19))));

        ChildReport read = ChildReport.read(file);

        HostileText.requireHarmless(read.provider());
        HostileText.requireHarmless(read.cores().getFirst().cpu());
        assertThat(read.initiator()).isNotNull();
        HostileText.requireHarmless(read.initiator().phases().getFirst().actualSha256());
        HostileText.requireHarmless(read.initiator().phases().getFirst().expectedSha256());
    }

    private static String quoted(String text) {
        return TextNode.valueOf(text).toString();
    }
}
