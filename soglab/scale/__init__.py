"""What a cluster would do: measured rates of one machine, and a model of many.

Read pipeline.py and inference.py (rates of one machine), events.py (discrete events), pipeline_model.py (the model),
served.py (several processes with one evaluator).
"""
