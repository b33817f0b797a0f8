package io.softdpu.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import org.junit.jupiter.api.Test;

final class LinuxExceptionTest {
    @Test
    void shouldNameCallErrorAndObject() {
        LinuxException failure = new LinuxException("memfd_create", Errno.EMFILE, "name=x");

        assertThat(failure).hasMessage("memfd_create failed: errno=24 (EMFILE), name=x");
        assertThat(failure.call()).isEqualTo("memfd_create");
        assertThat(failure.errno()).isEqualTo(24);
    }

    @Test
    void shouldNameEachErrorNumberByItsSymbol() throws IllegalAccessException {
        int checked = 0;
        for (Field field : Errno.class.getFields()) {
            assertThat(Modifier.isStatic(field.getModifiers())).isTrue();
            assertThat(Errno.name(field.getInt(null))).isEqualTo(field.getName());
            checked++;
        }

        assertThat(checked).isGreaterThan(60);
    }

    @Test
    void shouldGiveTheNumberOfAnErrorThatHasNoSymbolHere() {
        assertThat(Errno.name(4095)).isEqualTo("errno 4095");
    }
}
