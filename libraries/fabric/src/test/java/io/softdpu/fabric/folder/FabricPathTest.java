package io.softdpu.fabric.folder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.fabric.error.FabricException;
import io.softdpu.linux.Identity;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FabricPathTest {
    private static final Path IN_TMP = Path.of("/tmp/softdpu-" + Identity.effectiveUid());

    @TempDir Path folder;

    @Test
    void shouldPreferTheProgramsFolderToTheEnvironments() {
        assertThat(FabricPath.of(Path.of("relative")))
                .isEqualTo(new FabricPath(Path.of("relative"), true));
    }

    @Test
    void shouldPreferTheFabricVariableToTheRuntimeFolder() {
        assertThat(FabricPath.ofEnvironment("/named", folder.toString()))
                .isEqualTo(new FabricPath(Path.of("/named"), true));
        assertThat(FabricPath.ofEnvironment("", folder.toString()))
                .isEqualTo(new FabricPath(folder.resolve("softdpu"), false));
    }

    @Test
    void shouldIgnoreARuntimeFolderThatIsRelativeOrMissing() {
        assertThat(FabricPath.ofEnvironment(null, null)).isEqualTo(new FabricPath(IN_TMP, false));
        assertThat(FabricPath.ofEnvironment(null, ".")).isEqualTo(new FabricPath(IN_TMP, false));
        assertThat(FabricPath.ofEnvironment(null, folder.resolve("none").toString()))
                .isEqualTo(new FabricPath(IN_TMP, false));
    }

    @ParameterizedTest
    @ValueSource(strings = {"fabric", "./fabric", "../fabric", "~/fabric"})
    void shouldRefuseARelativePathInTheVariable(String named) {
        assertThatThrownBy(() -> FabricPath.ofEnvironment(named, folder.toString()))
                .isInstanceOf(FabricException.class)
                .extracting(failure -> ((FabricException) failure).kind())
                .isEqualTo(FabricException.Kind.MALFORMED);
        assertThatThrownBy(() -> FabricPath.ofEnvironment(named, folder.toString()))
                .hasMessage(
                        "path of the fabric folder is relative: variable=SOFTDPU_FABRIC, value="
                                + named
                                + ", expected=an absolute path");
    }
}
