package io.softdpu.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Constructor;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Lists the objects that a submission passes through, from the call to the copy: a class that is
 * divided, or a layer that forwards, must not add one unnoticed.
 */
class SubmissionPathTest {
    @TempDir static Path folder;
    private static Map<String, List<String>> submissions;

    @BeforeAll
    @SuppressWarnings("unchecked") // of this class's own program
    static void record() throws ReflectiveOperationException {
        Constructor<?> program =
                new RecordingLoader()
                        .loadClass(RecordedSubmissions.class.getName())
                        .getDeclaredConstructor();
        program.setAccessible(true);
        submissions =
                ((Function<Path, Map<String, List<String>>>) program.newInstance()).apply(folder);
    }

    /** The import of the consumer's memory and that of its ring have three each. */
    @Test
    void shouldListTheObjectsOfAMessage() {
        assertThat(submissions.get("message"))
                .containsExactly(
                        "ProducerSendTask",
                        "ContextEngine",
                        "EngineImpl",
                        "ProducerContext",
                        "Buf",
                        "Mmap",
                        "MemoryRight",
                        "RegionAccess",
                        "Grant",
                        "AttachedConsumer",
                        "RemoteConsumer",
                        "ImportedRegion",
                        "GenerationPage",
                        "Link",
                        "ImportedRegion",
                        "GenerationPage",
                        "Link",
                        "CreditWaiter",
                        "CreditQueue",
                        "FastPathProducer",
                        "AttachedConsumers",
                        "MmapRange",
                        "Copier",
                        "FixedQueue",
                        "SubmitFlags");
    }

    /** Both bufs have an mmap and a grant. */
    @Test
    void shouldListTheObjectsOfAnRdmaWrite() {
        assertThat(submissions.get("write"))
                .containsExactly(
                        "WriteTask",
                        "ContextEngine",
                        "EngineImpl",
                        "Buf",
                        "Mmap",
                        "MemoryRight",
                        "RegionAccess",
                        "Grant",
                        "Buf",
                        "Mmap",
                        "Grant",
                        "ImportedRegion",
                        "GenerationPage",
                        "Link",
                        "RdmaContext",
                        "RdmaCapabilities",
                        "ProviderLimits",
                        "LocalList",
                        "MmapRange",
                        "RdmaConnection",
                        "ShmConnection",
                        "ShmEndpoint",
                        "ShmSender",
                        "RemoteAccess",
                        "MmapOrigin",
                        "SharedSegment",
                        "Copier",
                        "SubmitFlags");
    }
}
