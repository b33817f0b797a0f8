package io.softdpu.rdma.roce;

import java.io.IOException;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Marks tests that are skipped where the system has no {@code ::1}. */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
@ExtendWith(NeedsIpv6.Condition.class)
@interface NeedsIpv6 {

    /** Looks for the address. */
    final class Condition implements ExecutionCondition {
        private static final String ADDRESS = "::1";

        @Override
        public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
            try {
                InetAddress loopback = InetAddress.ofLiteral(ADDRESS);
                new DatagramSocket(new InetSocketAddress(loopback, 0)).close();
                return ConditionEvaluationResult.enabled("IPv6 is there");
            } catch (IOException e) {
                return ConditionEvaluationResult.disabled("no IPv6: " + e.getMessage());
            }
        }
    }
}
