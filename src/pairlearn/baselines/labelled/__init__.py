"""What machines on labelled pairs have to beat: `strengths` of examples and means, `neighbours` of the pair asked."""
